package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"syscall"
)

type object = map[string]any

// refused names an operation or option that the library does not have.
type refused string

func (why refused) Error() string { return string(why) }

func failed(why error) object {
	kind := "execution"
	if _, is := why.(refused); is {
		kind = "invalid_input"
	}
	return object{"error": object{"kind": kind, "message": why.Error()}}
}

func done(why error) object {
	if why != nil {
		return failed(why)
	}
	return object{}
}

func text(holder object, name string) string {
	if raw, given := holder[name+"_b64"].(string); given {
		decoded, _ := base64.StdEncoding.DecodeString(raw)
		return string(decoded)
	}
	found, _ := holder[name].(string)
	return found
}

// list returns a field, or its base64 counterpart with decoded strings.
func list(holder object, name string) []any {
	if raw, given := holder[name+"_b64"].([]any); given {
		return decoded(raw).([]any)
	}
	found, _ := holder[name].([]any)
	return found
}

func decoded(value any) any {
	if text, is := value.(string); is {
		raw, _ := base64.StdEncoding.DecodeString(text)
		return string(raw)
	}
	all := []any{}
	for _, each := range value.([]any) {
		all = append(all, decoded(each))
	}
	return all
}

var signals = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGKILL: "SIGKILL",
	syscall.SIGPIPE: "SIGPIPE", syscall.SIGSEGV: "SIGSEGV", syscall.SIGTERM: "SIGTERM",
}

func signalName(number syscall.Signal) string {
	if name, known := signals[number]; known {
		return name
	}
	return number.String()
}

func errnoName(number syscall.Errno) string {
	if number == syscall.EPIPE {
		return "EPIPE"
	}
	return number.Error()
}

func answer(message object, serving bool) object {
	switch message["op"] {
	case "hello":
		about := object{"name": "exec.Cmd", "version": runtime.Version(), "language": "Go"}
		return object{"result": object{"protocol": 1, "nonce": message["nonce"],
			"pid": os.Getpid(), "implementation": about, "capabilities": []string{"process"}}}
	case "bye":
		return object{"result": object{}}
	case "process.script", "process.bridge":
		if serving {
			return failed(refused("programs are run in run mode"))
		} else if message["op"] == "process.bridge" {
			return bridge(message["request"].(object))
		}
		return runScript(message)
	}
	return object{"unsupported": object{"capability": message["op"], "why": "not in this shim"}}
}

func reply(line []byte, serving bool, to io.Writer) object {
	var message object
	given := json.NewDecoder(bytes.NewReader(line))
	given.UseNumber()
	_ = given.Decode(&message)
	said := answer(message, serving)
	said["id"] = message["id"]
	_ = json.NewEncoder(to).Encode(said)
	return message
}

func main() {
	if os.Args[1] == "serve" {
		lines := bufio.NewReader(os.Stdin)
		for line, why := lines.ReadBytes('\n'); why == nil; line, why = lines.ReadBytes('\n') {
			if reply(line, true, os.Stdout)["op"] == "bye" {
				return
			}
		}
		return
	}
	line, _ := os.ReadFile(os.Args[2])
	file, _ := os.Create(os.Args[3] + ".new")
	message := reply(line, false, file)
	_ = os.Rename(file.Name(), os.Args[3]) // atomic, so that no reader sees half an answer
	if hold, given := message["hold"].(string); given {
		_, _ = os.ReadFile(hold)
	}
}
