// Names of signals, and writes to a pipe. This file needs no change.
package main

import (
	"fmt"
	"os"
	"syscall"
)

var signalNames = map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM",
	syscall.SIGINT: "SIGINT", syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT",
	syscall.SIGPIPE: "SIGPIPE", syscall.SIGHUP: "SIGHUP", syscall.SIGUSR1: "SIGUSR1",
	syscall.SIGUSR2: "SIGUSR2", syscall.SIGQUIT: "SIGQUIT", syscall.SIGALRM: "SIGALRM"}

func signalName(number syscall.Signal) string {
	if name := signalNames[number]; name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(number))
}

// Write once, without a wait for room: it fails with EAGAIN if the pipe is full. The runtime of Go
// has made the pipe non-blocking, and would wait otherwise.
func writeAtOnce(pipe *os.File, data []byte) (count int, why error) {
	raw, why := pipe.SyscallConn()
	if why == nil {
		raw.Write(func(fd uintptr) bool {
			for why == nil && count < len(data) {
				var some int
				if some, why = syscall.Write(int(fd), data[count:]); some > 0 {
					count += some
				}
			}
			return true
		})
	}
	return
}
