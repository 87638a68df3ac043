//go:build !planted

// Package yourparser contains the parser to fuzz; this file is its only connection to the harness.
package yourparser

import "encoding/json"

// take reports whether the parser accepts the text. Replace the body by a call of your parser.
func take(text []byte) bool {
	var value any
	return json.Unmarshal(text, &value) == nil
}
