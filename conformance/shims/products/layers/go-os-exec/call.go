// call calls only Cmd of os/exec, for ../tries.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func run(asked map[string]json.RawMessage) map[string]any {
	var argv []string
	var env [][2]string
	var dir, input string
	var limit int64
	for name, to := range map[string]any{
		"argv": &argv, "env": &env, "cwd": &dir, "input": &input, "timeout_ms": &limit,
	} {
		if text, given := asked[name]; given {
			if why := json.Unmarshal(text, to); why != nil {
				panic(why)
			}
		}
	}
	ctx := context.Background()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(limit)*time.Millisecond)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Dir, cmd.Stdin = dir, os.Stdin
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	if _, given := asked["env"]; given {
		cmd.Env = []string{}
	}
	for _, pair := range env {
		cmd.Env = append(cmd.Env, pair[0]+"="+pair[1])
	}
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	why := cmd.Run()
	var exited *exec.ExitError
	if why != nil && !errors.As(why, &exited) && ctx.Err() == nil {
		return map[string]any{"error": why.Error()}
	}
	return map[string]any{
		"code": cmd.ProcessState.ExitCode(), "out": out.String(), "err": err.String(),
		"late": ctx.Err() != nil,
	}
}

func main() {
	var asked map[string]json.RawMessage
	if why := json.Unmarshal([]byte(os.Args[1]), &asked); why != nil {
		panic(why)
	}
	told, _ := json.Marshal(run(asked))
	_, _ = os.Stdout.Write(append(told, '\n'))
}
