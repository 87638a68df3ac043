// Read the value of a module. Your own function replaces this file.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)`)

// Return the one JSON value of an output. encoding/json replaces what is no text, so refuse it
// here; of a name that is given twice the last value counts.
func valueOf(output []byte) (value any, why error) {
	if !utf8.Valid(output) {
		return nil, errors.New("the output is not UTF-8")
	}
	for _, each := range escapes.FindAllString(string(output), -1) {
		if len(each) == 6 && strings.ContainsAny(each[2:3], "dD") && each[3] >= '8' {
			return nil, errors.New("the output has half of a surrogate pair: " + each)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(output))
	decoder.UseNumber()
	if why = decoder.Decode(&value); why != nil {
		return nil, why
	}
	if _, why = decoder.Token(); why != io.EOF {
		return nil, errors.New("text follows the value")
	}
	return value, nil
}
