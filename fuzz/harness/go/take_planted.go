//go:build planted

package yourparser

import (
	"bytes"
	"encoding/json"
)

// take with a mistake, for the test of this template: after a `t` it reads bytes that a cut text
// does not have.
func take(text []byte) bool {
	at := bytes.LastIndexByte(text, 't')
	return json.Valid(text) && (at < 0 || text[at+1] != 0) || at >= 0 && text[at+2] == 0
}
