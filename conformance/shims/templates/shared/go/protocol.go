// The two modes of boxspec's shim protocol, run and serve. This file needs no change.
// shim-protocol.md of boxspec describes requests and answers.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

type object = map[string]any
type message = map[string]json.RawMessage

// An answer of kind `error`.
type failed struct{ kind, message string }

// An answer of kind `unsupported`, with the name of a capability or operation.
type unsupported struct{ capability, why string }

func (f failed) Error() string      { return f.message }
func (f failed) answer() object     { return object{"kind": f.kind, "message": f.message} }
func (u unsupported) Error() string { return u.why }

// An operation: its function, the names of its fields, and whether `serve` refuses the message.
type operation struct {
	take    func(message) (any, error)
	fields  string
	onlyRun func(message) bool
}

// Return the field `name`; the zero value if it is absent.
func field[T any](from message, name string) (value T) {
	json.Unmarshal(from[name], &value)
	return
}

// Refuse each field that the shim does not know: the kit forbids to ignore one.
func refuseOthers(given message, known, capability string) error {
	for name := range given {
		if !strings.Contains(" "+known+" ", " "+name+" ") {
			return unsupported{capability, "unknown field: " + name}
		}
	}
	return nil
}

func answer(asked message, serving bool) object {
	op := field[string](asked, "op")
	if op == "hello" {
		told := object{"protocol": 1, "nonce": asked["nonce"], "pid": os.Getpid()}
		for name, value := range hello {
			told[name] = value
		}
		return object{"result": told}
	} else if op == "bye" {
		return object{"result": object{}}
	}
	known, found := operations[op]
	why := error(unsupported{op, "not in this shim"})
	var result any
	if found {
		why = refuseOthers(asked, "id op hold "+known.fields, op)
		if why == nil && serving && known.onlyRun(asked) {
			why = failed{"invalid_input", "programs are started in run mode only"}
		} else if why == nil {
			result, why = known.take(asked)
		}
	}
	var refusal unsupported
	var failure failed
	if errors.As(why, &refusal) {
		told := object{"capability": refusal.capability, "why": refusal.why}
		return object{"unsupported": told}
	} else if errors.As(why, &failure) {
		return object{"error": failure.answer()}
	} else if why != nil {
		return object{"error": failed{"io", fmt.Sprint(why)}.answer()}
	}
	return object{"result": result}
}

func reply(line []byte, serving bool, to io.Writer) (asked message) {
	json.Unmarshal(line, &asked)
	said := answer(asked, serving)
	said["id"] = asked["id"]
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	encoder.Encode(said)
	return
}
