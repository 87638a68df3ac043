// The two ways in which the kit starts a shim. This file needs no change.
package main

import (
	"bufio"
	"os"
)

func main() {
	if os.Args[1] == "serve" {
		lines := bufio.NewReader(os.Stdin)
		for line, why := lines.ReadBytes('\n'); why == nil; line, why = lines.ReadBytes('\n') {
			if field[string](reply(line, true, os.Stdout), "op") == "bye" {
				return
			}
		}
		return
	}
	line, _ := os.ReadFile(os.Args[2])
	file, _ := os.Create(os.Args[3] + ".new")
	asked := reply(line, false, file)
	os.Rename(file.Name(), os.Args[3]) // in one step: a reader never sees part of an answer
	if hold := field[string](asked, "hold"); hold != "" {
		os.ReadFile(hold)
	}
}
