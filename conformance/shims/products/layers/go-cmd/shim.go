// Go's exec.Cmd as a handle; operations that it does not have are refused.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

var fields = map[string]bool{"program": true, "args": true, "current_dir": true, "env": true}

// process is a command that was started, and the ends of its pipes.
type process struct {
	cmd     *exec.Cmd
	streams map[string]io.Closer
	ended   chan struct{}
}

// open starts the program of a request with these modes of stdin, stdout and stderr.
func open(request object, modes [3]uint64) (*process, error) {
	for name := range request {
		if !fields[strings.TrimSuffix(name, "_b64")] {
			return nil, refused("no field of a Cmd: " + name)
		}
	}
	cmd := exec.Command(text(request, "program"))
	for _, word := range list(request, "args") {
		cmd.Args = append(cmd.Args, word.(string))
	}
	cmd.Dir = text(request, "current_dir")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if env, given := request["env"].(object); given {
		cmd.Env = []string{}
		for _, pair := range list(env, "clear_and_set") {
			words := pair.([]any)
			cmd.Env = append(cmd.Env, words[0].(string)+"="+words[1].(string))
		}
	}
	// A nil stream of a Cmd is the null device.
	made := &process{cmd: cmd, streams: map[string]io.Closer{}, ended: nil}
	for i, name := range streams {
		var why error
		switch modes[i] {
		case 0:
			inherit(cmd, name)
		case 1:
			made.streams[name], why = pipe(cmd, name)
		case 2:
		default:
			return nil, refused("a stream is a pipe, a file or nil")
		}
		if why != nil {
			return nil, why
		}
	}
	if why := cmd.Start(); why != nil {
		return nil, fmt.Errorf("failed to spawn: %w", why)
	}
	return made, nil
}

func pipe(cmd *exec.Cmd, name string) (io.Closer, error) {
	switch name {
	case "stdin":
		return cmd.StdinPipe()
	case "stdout":
		return cmd.StdoutPipe()
	}
	return cmd.StderrPipe()
}

func inherit(cmd *exec.Cmd, name string) {
	switch name {
	case "stdin":
		cmd.Stdin = os.Stdin
	case "stdout":
		cmd.Stdout = os.Stdout
	default:
		cmd.Stderr = os.Stderr
	}
}

// wait is Wait, which knows no timeout: as its users do, a goroutine waits. It begins with the
// first wait, for Wait closes the pipes when the command has ended.
func (each *process) wait(limit <-chan time.Time) object {
	if each.ended == nil {
		each.ended = make(chan struct{})
		go func() {
			_ = each.cmd.Wait()
			close(each.ended)
		}()
	}
	select {
	case <-each.ended:
	case <-limit:
		select { // of two that are ready any one is taken
		case <-each.ended:
		default:
			return object{"running": true}
		}
	}
	return told(each.cmd.ProcessState.Sys().(syscall.WaitStatus))
}

func told(status syscall.WaitStatus) object {
	if status.Signaled() {
		return object{"signaled": signalName(status.Signal())}
	}
	return object{"exited": status.ExitStatus()}
}

// signal signals the process, because a Cmd has no operation for its group.
func (each *process) signal(number syscall.Signal) error {
	why := each.cmd.Process.Signal(number)
	if errors.Is(why, os.ErrProcessDone) {
		return nil
	}
	return why
}

// bridge copies between the streams, a goroutine each.
func bridge(request object) object {
	made, why := open(request, [3]uint64{1, 1, 1})
	if why != nil {
		return failed(why)
	}
	in := made.streams["stdin"].(io.WriteCloser)
	go func() {
		_, _ = io.Copy(in, os.Stdin)
		_ = in.Close()
	}()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(os.Stderr, made.streams["stderr"].(io.Reader))
		close(done)
	}()
	_, _ = io.Copy(os.Stdout, made.streams["stdout"].(io.Reader))
	<-done
	return object{"result": made.wait(nil)}
}
