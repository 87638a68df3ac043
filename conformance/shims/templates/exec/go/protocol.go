package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// The text of a stream, or its digest where it has more than 1 MiB.
func stream(data []byte) any {
	raw := []byte(strings.ToValidUTF8(string(data), "\uFFFD"))
	if len(raw) <= 1<<20 {
		return string(raw)
	}
	return object{"bytes": len(raw), "sha256": fmt.Sprintf("%x", sha256.Sum256(raw)),
		"head_b64": raw[:4096], "tail_b64": raw[len(raw)-4096:]}
}

func answer(message map[string]json.RawMessage, serving bool) object {
	var op string
	json.Unmarshal(message["op"], &op)
	if op == "hello" {
		return object{"result": object{"protocol": 1, "nonce": message["nonce"], "pid": os.Getpid(),
			"implementation": about, "capabilities": capabilities, "constants": constants}}
	} else if op == "bye" {
		return object{"result": object{}}
	}
	var asked request
	given := json.NewDecoder(bytes.NewReader(message["request"]))
	given.DisallowUnknownFields()
	if why := given.Decode(&asked); op != "exec.run" || why != nil || message["sandbox"] != nil {
		why := fmt.Sprintf("not in this shim: %v", why)
		return object{"unsupported": object{"capability": op, "why": why}}
	} else if serving {
		return object{"error": object{"kind": "invalid_input", "message": "only in run mode"}}
	}
	return run(asked)
}

func reply(line []byte, serving bool, to io.Writer) map[string]json.RawMessage {
	var message map[string]json.RawMessage
	json.Unmarshal(line, &message)
	said := answer(message, serving)
	said["id"] = message["id"]
	json.NewEncoder(to).Encode(said)
	return message
}

func main() {
	if os.Args[1] == "serve" {
		lines := bufio.NewReader(os.Stdin)
		for line, why := lines.ReadBytes('\n'); why == nil; line, why = lines.ReadBytes('\n') {
			reply(line, true, os.Stdout)
		}
		return
	}
	line, _ := os.ReadFile(os.Args[2])
	file, _ := os.Create(os.Args[3] + ".new")
	message := reply(line, false, file)
	os.Rename(file.Name(), os.Args[3]) // in one step: a reader never sees part of an answer
	var hold string
	if json.Unmarshal(message["hold"], &hold); hold != "" {
		os.ReadFile(hold)
	}
}
