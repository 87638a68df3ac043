// Texts and bytes of a request. This file needs no change.
package main

import "unicode/utf8"

// Return the bytes of a field, which has the suffix _b64 if they are not UTF-8.
func content(from message, name string) []byte {
	if from[name+"_b64"] != nil {
		return field[[]byte](from, name+"_b64")
	}
	return []byte(field[string](from, name))
}

// Return the text of a field. It fails if the bytes are not UTF-8: this shim knows no use of them.
func textOf(from message, name string) (string, error) {
	raw := content(from, name)
	if !utf8.Valid(raw) {
		return "", failed{"invalid_input", "`" + name + "` is not UTF-8"}
	}
	return string(raw), nil
}
