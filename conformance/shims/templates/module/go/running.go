// Run one program to its end, within a time limit. Your own function replaces this file.
package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const grace = 5 * time.Second

// Why the program was ended: its time limit, or a signal to this process.
var errTimeout = errors.New("Timeout")

var names = map[os.Signal]string{
	syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP",
}

type interrupted struct{ os.Signal }

func (i interrupted) Error() string { return i.String() }

// How a program has ended. `ended` is nil, or the reason for which it was ended.
type ending struct {
	code     int
	out, err []byte
	ended    error
}

// Run a program in a process group of its own. At the end of the limit, and after a signal to this
// process, the group gets SIGTERM, and SIGKILL after the grace.
func run(program string, input []byte, timeout int64, folder string, env []string) (*ending, error) {
	limit := time.Duration(min(timeout, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	limited, stop := context.WithTimeoutCause(context.Background(), limit, errTimeout)
	defer stop()
	ctx, cancel := context.WithCancelCause(limited)
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() { cancel(interrupted{<-signals}) }()

	var out, err bytes.Buffer
	command := exec.CommandContext(ctx, program)
	command.Dir, command.Env, command.Stdin = folder, env, bytes.NewReader(input)
	command.Stdout, command.Stderr = &out, &err
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var ended error
	command.Cancel = func() error {
		ended = context.Cause(ctx)
		return syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
	}
	command.WaitDelay = grace
	if why := command.Start(); why != nil {
		return nil, why
	}
	command.Wait()
	syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	return &ending{command.ProcessState.ExitCode(), out.Bytes(), err.Bytes(), ended}, nil
}
