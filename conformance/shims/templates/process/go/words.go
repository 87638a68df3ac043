// Names of signals, and bytes of the protocol. This file needs no change.
package main

import (
	"fmt"
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

// Return the bytes of a field, which has the suffix _b64 if they are not UTF-8.
func content(step message, name string) []byte {
	if step[name+"_b64"] != nil {
		return field[[]byte](step, name+"_b64")
	}
	return []byte(field[string](step, name))
}
