// One run of one command, answered as `exec.run` does. This file needs no change.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Return the text of a stream, or its digest if it has more than 1 MiB.
func stream(data []byte) any {
	raw := []byte(strings.ToValidUTF8(string(data), "\uFFFD"))
	if len(raw) <= 1<<20 {
		return string(raw)
	}
	return object{"bytes": len(raw), "sha256": fmt.Sprintf("%x", sha256.Sum256(raw)),
		"head_b64": raw[:4096], "tail_b64": raw[len(raw)-4096:]}
}

func run(request message, argv []string, cwd string, env []string) (object, error) {
	known := "program args current_dir stdin env timeout_ms"
	if why := refuseOthers(request, known, "exec.run"); why != nil {
		return nil, why
	}
	ctx, cancel := context.WithCancel(context.Background())
	if request["timeout_ms"] != nil {
		limit := time.Duration(field[int64](request, "timeout_ms")) * time.Millisecond
		ctx, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	var out, err bytes.Buffer
	child := exec.CommandContext(ctx, argv[0], argv[1:]...)
	child.Dir, child.Env, child.Stdout, child.Stderr = cwd, env, &out, &err
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGKILL) }
	if given := field[message](request, "stdin"); given != nil {
		child.Stdin = bytes.NewReader(content(given, "bytes"))
	} else if field[string](request, "stdin") != "null" {
		child.Stdin = os.Stdin
		// Through /proc a program could open a file again for writing, although it lies outside the
		// sandbox. Without its type *os.File, it is passed on through a pipe.
		if stdin, why := os.Stdin.Stat(); why == nil && stdin.Mode().IsRegular() {
			child.Stdin = struct{ io.Reader }{os.Stdin}
		}
	}
	started := time.Now()
	if why := child.Start(); why != nil {
		message := "failed to spawn `" + argv[0] + "`: " + why.Error()
		return object{"error": failed{"execution", message}.answer()}, nil
	}
	child.Wait()
	var code any
	if exited := child.ProcessState.ExitCode(); exited >= 0 && ctx.Err() == nil {
		code = exited
	}
	return object{"result": object{"success": code == 0, "exit_code": code, "output": nil,
		"stdout": stream(out.Bytes()), "stderr": stream(err.Bytes()),
		"duration_ms": time.Since(started).Milliseconds()}}, nil
}
