package main

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// FILL IN: one handle of your implementation: a running program and its streams.
type handle struct {
	asked   message
	command *exec.Cmd
	pipes   map[string]*os.File // the caller's ends
	owned   map[string]bool     // streams that the caller did not take
	ended   chan struct{}       // closed after the child's end
	lock    sync.Mutex
}

var names = [3]string{"stdin", "stdout", "stderr"}

func (h *handle) open() (object, error) {
	request := field[message](h.asked, "request")
	why := refuseOthers(request, "program args current_dir env", "process")
	if why != nil {
		return nil, failed{"invalid_input", why.Error()}
	}
	child := exec.Command(field[string](request, "program"), field[[]string](request, "args")...)
	child.Dir = field[string](request, "current_dir")
	if env := field[message](request, "env"); env != nil {
		child.Env = []string{}
		for _, pair := range field[[][2]string](env, "clear_and_set") {
			child.Env = append(child.Env, pair[0]+"="+pair[1])
		}
	}
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	streams, theirs := [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, []*os.File{}
	pipes, owned := map[string]*os.File{}, map[string]bool{}
	for at, name := range names {
		mode := 1
		if h.asked[name] != nil {
			mode = field[int](h.asked, name)
		}
		if mode == 2 {
			streams[at] = nil // os/exec opens /dev/null
		} else if mode == 1 {
			reader, writer, _ := os.Pipe()
			streams[at], pipes[name], owned[name] = reader, writer, true
			if at > 0 {
				streams[at], pipes[name] = writer, reader
			}
			theirs = append(theirs, streams[at])
		} else if mode != 0 {
			return nil, failed{"invalid_input", "a stream mode is 0, 1 or 2"}
		}
	}
	// A nil *os.File in these interfaces would not mean /dev/null.
	if streams[0] != nil {
		child.Stdin = streams[0]
	}
	if streams[1] != nil {
		child.Stdout = streams[1]
	}
	if streams[2] != nil {
		child.Stderr = streams[2]
	}
	why = child.Start()
	for _, each := range theirs {
		each.Close()
	}
	if why != nil {
		return nil, why
	}
	h.command, h.pipes, h.owned, h.ended = child, pipes, owned, make(chan struct{})
	go func() {
		child.Wait()
		close(h.ended)
	}()
	return object{"pid": child.Process.Pid}, nil
}

func (h *handle) wait(step message) (object, error) {
	if step["timeout_ms"] != nil {
		limit := time.Duration(field[int64](step, "timeout_ms")) * time.Millisecond
		select {
		case <-h.ended:
		case <-time.After(limit):
			return object{"running": true}, nil
		}
	} else if h.owned["stdin"] && step["stay"] == nil {
		h.pipes["stdin"].Close()
	}
	<-h.ended
	state := h.command.ProcessState.Sys().(syscall.WaitStatus)
	if state.Signaled() {
		return object{"signaled": signalName(state.Signal())}, nil
	}
	return object{"exited": state.ExitStatus()}, nil
}
