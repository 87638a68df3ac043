// Answers each line N on stdin with the nanoseconds of N runs of /bin/true.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

func once() int64 {
	start := time.Now()
	var stdout, stderr bytes.Buffer
	command := exec.Command("/bin/true")
	command.Stdout = &stdout
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		panic(err)
	}
	return time.Since(start).Nanoseconds()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			panic(err)
		}
		times := make([]string, n)
		for i := range times {
			times[i] = strconv.FormatInt(once(), 10)
		}
		fmt.Println(strings.Join(times, " "))
	}
}
