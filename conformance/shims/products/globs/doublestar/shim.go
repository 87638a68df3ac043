// A shim around doublestar: `doublestar.Match`, which takes no options.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"runtime/debug"

	"github.com/bmatcuk/doublestar/v4"
)

type object = map[string]any

type request struct {
	ID, Nonce  json.RawMessage
	Op, Case   string
	Pattern    string
	PatternB64 []byte `json:"pattern_b64"`
	Paths      []string
	PathsB64   [][]byte `json:"paths_b64"`
}

func unsupported(capability, why string) object {
	return object{"unsupported": object{"capability": capability, "why": why}}
}

func match(asked request) object {
	if asked.Case != "" && asked.Case != "sensitive" {
		return unsupported("policy.fold", "case is not folded")
	}
	if asked.PatternB64 != nil {
		asked.Pattern = string(asked.PatternB64)
	}
	for _, path := range asked.PathsB64 {
		asked.Paths = append(asked.Paths, string(path))
	}
	items := []object{}
	for _, path := range asked.Paths {
		matched, why := doublestar.Match(asked.Pattern, path)
		if why != nil {
			return object{"error": object{"kind": "invalid_input", "message": why.Error()}}
		}
		items = append(items, object{"match": matched})
	}
	return object{"result": object{"items": items}}
}

// The version of the library that was linked.
func version() string {
	built, _ := debug.ReadBuildInfo()
	for _, module := range built.Deps {
		if module.Path == "github.com/bmatcuk/doublestar/v4" {
			return module.Version
		}
	}
	return "unknown"
}

func answer(asked request) object {
	switch asked.Op {
	case "hello":
		return object{"result": object{"protocol": 1, "nonce": asked.Nonce, "pid": os.Getpid(),
			"implementation": object{"name": "doublestar", "version": version(), "language": "Go",
				"homepage": "https://pkg.go.dev/github.com/bmatcuk/doublestar/v4"},
			"capabilities": []string{"glob"},
			"constants":    object{"grace_ms": 5000, "tick_ms": 100}}}
	case "bye":
		return object{"result": object{}}
	case "glob.match":
		return match(asked)
	}
	return unsupported(asked.Op, "doublestar matches globs")
}

func reply(line []byte, to io.Writer) request {
	var asked request
	json.Unmarshal(line, &asked)
	said := answer(asked)
	said["id"] = asked.ID
	json.NewEncoder(to).Encode(said)
	return asked
}

func main() {
	if os.Args[1] == "serve" {
		lines := bufio.NewReader(os.Stdin)
		for line, why := lines.ReadBytes('\n'); why == nil; line, why = lines.ReadBytes('\n') {
			if reply(line, os.Stdout).Op == "bye" {
				return
			}
		}
		return
	}
	line, _ := os.ReadFile(os.Args[2])
	file, _ := os.Create(os.Args[3] + ".new")
	reply(line, file)
	os.Rename(file.Name(), os.Args[3]) // atomic, so that no reader sees half an answer
}
