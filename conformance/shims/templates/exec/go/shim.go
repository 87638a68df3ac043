// A shim for boxspec. Four places say FILL IN: name, capabilities, constants and how to run.
// Until then it runs programs by os/exec, so that `boxspec smoke` and `boxspec run` answer at
// once. shim-protocol.md of boxspec describes requests and answers. The other file, protocol.go,
// needs no change.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"time"
)

type object = map[string]any

// FILL IN: the name and version of your implementation.
var about = object{"name": "my-implementation", "version": "0.1", "language": "Go"}

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
var capabilities = []string{"exec"}

// FILL IN: the grace period after SIGTERM, and the interval of your checks.
var constants = object{"grace_ms": 5000, "tick_ms": 100}

type request struct {
	Program    string
	Args       []string
	CurrentDir string `json:"current_dir"`
	Stdin      any
	Env        json.RawMessage
	TimeoutMs  *int64 `json:"timeout_ms"`
}

// FILL IN: one run of one program by your implementation.
func run(asked request) object {
	ctx, cancel := context.Background(), func() {}
	if asked.TimeoutMs != nil {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*asked.TimeoutMs)*time.Millisecond)
	}
	defer cancel()
	var out, err bytes.Buffer
	command := exec.CommandContext(ctx, asked.Program, asked.Args...)
	command.Dir, command.Stdin, command.Stdout, command.Stderr = asked.CurrentDir, os.Stdin, &out, &err
	if asked.Stdin == "null" {
		command.Stdin = nil
	} else if given, ok := asked.Stdin.(object); ok {
		command.Stdin = strings.NewReader(given["bytes"].(string))
	}
	var env struct {
		Pairs [][2]string `json:"clear_and_set"`
	}
	if json.Unmarshal(asked.Env, &env) == nil {
		command.Env = []string{}
		for _, pair := range env.Pairs {
			command.Env = append(command.Env, pair[0]+"="+pair[1])
		}
	}
	started := time.Now()
	if why := command.Start(); why != nil {
		return object{"error": object{"kind": "execution", "message": why.Error()}}
	}
	command.Wait()
	var code any
	if exited := command.ProcessState.ExitCode(); exited >= 0 && ctx.Err() == nil {
		code = exited
	}
	return object{"result": object{"success": code == 0, "exit_code": code, "output": nil,
		"stdout": stream(out.Bytes()), "stderr": stream(err.Bytes()),
		"duration_ms": time.Since(started).Milliseconds()}}
}
