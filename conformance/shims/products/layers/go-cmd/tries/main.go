// tries shows how a Cmd behaves, without the kit: tries ID...; one line for each.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// If a library waits this long, it waits for a process that the try holds. When the try releases
	// that process, the end of the wait proves the cause.
	long   = 3 * time.Second
	holder = `read x <"$0" & echo $!; `
)

type try func() (bool, string)

func must[T any](value T, why error) T {
	if why != nil {
		panic(why)
	}
	return value
}

func isAlive(pid int) bool {
	text, why := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if why != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// started starts a group of two processes and returns the Cmd and the pid of the second process,
// which waits at a fifo.
func started(line string) (*exec.Cmd, int) {
	cmd := exec.Command("/bin/sh", "-c", line, "gate")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out := must(cmd.StdoutPipe())
	if why := cmd.Start(); why != nil {
		panic(why)
	}
	var member int
	fmt.Sscan(must(bufio.NewReader(out).ReadString('\n')), &member)
	return cmd, member
}

func eof() (bool, string) {
	cmd := exec.Command("/bin/echo", "kept")
	out := must(cmd.StdoutPipe())
	if why := cmd.Start(); why != nil {
		panic(why)
	}
	_ = cmd.Wait()
	data, why := io.ReadAll(out)
	return why != nil, fmt.Sprintf("read behind Wait: %q, %v", data, why)
}

func wait() (bool, string) {
	cmd := exec.Command("/bin/cat")
	in := must(cmd.StdinPipe())
	if why := cmd.Start(); why != nil {
		panic(why)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case why := <-ended:
		return false, fmt.Sprintf("cat ended: %v", why)
	case <-time.After(long):
	}
	_ = in.Close()
	why := <-ended
	return true, fmt.Sprintf("cat goes on for %v, and ends with %v at a Close", long, why)
}

func kill() (bool, string) {
	cmd, member := started(holder + "wait")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return isAlive(member), fmt.Sprintf("Kill ended it: %v; the member lives on", cmd.ProcessState)
}

func group() (bool, string) {
	cmd, member := started(holder + "exit 0")
	_ = cmd.Wait()
	return isAlive(member), "the leader has ended and was waited for, the member lives on"
}

func drop() (bool, string) {
	cmd, member := started(holder + "wait")
	pid := cmd.Process.Pid
	cmd = nil
	runtime.GC()
	runtime.GC()
	alive := isAlive(pid) && isAlive(member)
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	return alive, "it lives on"
}

func main() {
	tries := map[string]try{
		"PROCESS-EOF-02": eof, "PROCESS-WAIT-04": wait, "PROCESS-KILL-02": kill,
		"PROCESS-GROUP-01": group, "PROCESS-DROP-01": drop,
	}
	folder := must(os.MkdirTemp("", "tries-"))
	defer func() { _ = os.RemoveAll(folder) }()
	if why := os.Chdir(folder); why != nil {
		panic(why)
	}
	if why := syscall.Mkfifo("gate", 0o600); why != nil {
		panic(why)
	}
	for _, name := range os.Args[1:] {
		one, found := tries[name]
		if !found {
			fmt.Printf("%s not tried: nothing here tries it\n", name)
			continue
		}
		said := map[bool]string{true: "seen", false: "not seen"}
		seen, what := one()
		fmt.Printf("%s %s: %s\n", name, said[seen], what)
	}
	// Release each process that still waits at the fifo.
	_ = must(os.OpenFile("gate", os.O_RDWR, 0)).Close()
}
