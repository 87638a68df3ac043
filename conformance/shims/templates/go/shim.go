// A shim for boxspec. Four places say FILL IN: who you are, what you have, and how you run.
// Until then it runs programs by os/exec, so that `boxspec smoke` and `boxspec run` answer at
// once. What a request asks and what an answer says: shim-protocol.md of boxspec. The other file,
// protocol.go, has nothing to fill in.
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

// FILL IN: the name and version of what is judged.
var about = object{"name": "my-implementation", "version": "0.1", "language": "Go"}

// FILL IN: what it can do, by the names of the protocol page. What is not named here is refused.
var capabilities = []string{"exec"}

// FILL IN: how long your implementation waits after SIGTERM, and how often it looks.
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
