// A shim around Go's os/exec: a compiled runtime with its own threads and strings of bytes.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	grace   = 5 * time.Second
	maxText = 1 << 20
	headLen = 4096
)

type object = map[string]any

type unsupported string

func (name unsupported) Error() string { return string(name) }

var (
	fields = map[string]bool{
		"program": true, "args": true, "current_dir": true, "timeout_ms": true,
		"stdin": true, "env": true,
	}
	capabilityOf = map[string]string{
		"max_output_bytes": "exec.cap", "stdin_failure": "exec.stdin_failure", "debug": "exec.debug",
	}
)

// decoded returns a value with each base64 string decoded.
func decoded(value any) any {
	switch value := value.(type) {
	case string:
		raw, _ := base64.StdEncoding.DecodeString(value)
		return string(raw)
	case []any:
		all := make([]any, len(value))
		for i, each := range value {
			all[i] = decoded(each)
		}
		return all
	}
	return value
}

// take returns a field or its base64 counterpart.
func take(holder object, name string) any {
	if value, found := holder[name+"_b64"]; found {
		return decoded(value)
	}
	return holder[name]
}

func check(message object) (object, error) {
	op := message["op"].(string)
	if op != "exec.run" && op != "exec.batch" {
		return nil, unsupported(op)
	}
	if _, found := message["sandbox"]; found {
		return nil, unsupported("exec.sandbox")
	}
	request, _ := message["request"].(object)
	return request, checkRequest(request)
}

func checkRequest(request object) error {
	for name, value := range request {
		if field := strings.TrimSuffix(name, "_b64"); fields[field] {
			continue
		}
		if name == "debug" && value == false || name == "stdin_failure" && value == "error" {
			continue
		}
		if capability, known := capabilityOf[name]; known {
			return unsupported(capability)
		}
		return unsupported(name)
	}
	return nil
}

func stream(raw []byte) any {
	text := string([]rune(string(raw)))
	if len(text) <= maxText {
		return text
	}
	return object{
		"bytes":    len(text),
		"sha256":   fmt.Sprintf("%x", sha256.Sum256([]byte(text))),
		"head_b64": base64.StdEncoding.EncodeToString([]byte(text[:headLen])),
		"tail_b64": base64.StdEncoding.EncodeToString([]byte(text[len(text)-headLen:])),
	}
}

func command(request object) (*exec.Cmd, error) {
	cmd := exec.Command(take(request, "program").(string))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace
	if args, given := take(request, "args").([]any); given {
		for _, each := range args {
			cmd.Args = append(cmd.Args, each.(string))
		}
	}
	if dir, given := take(request, "current_dir").(string); given {
		cmd.Dir = dir
	}
	switch stdin := request["stdin"].(type) {
	case object:
		cmd.Stdin = strings.NewReader(take(stdin, "bytes").(string))
	default:
		if stdin != "null" {
			cmd.Stdin = os.Stdin
		}
	}
	if env, given := request["env"].(object); given {
		cmd.Env = []string{}
		for _, each := range take(env, "clear_and_set").([]any) {
			pair := each.([]any)
			name := pair[0].(string)
			if name == "" || strings.Contains(name, "=") {
				return nil, fmt.Errorf("`%s` is no name of a variable", name)
			}
			cmd.Env = append(cmd.Env, name+"="+pair[1].(string))
		}
	}
	return cmd, nil
}

func failed(why error) object {
	message := "failed to spawn: " + why.Error()
	return object{"error": object{"kind": "execution", "message": message}}
}

func run(request object) object {
	began := time.Now()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	cmd, err := command(request)
	if err != nil {
		return failed(err)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return failed(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var deadline <-chan time.Time
	if limit, given := request["timeout_ms"].(json.Number); given {
		deadline = time.After(duration(limit))
	}
	var note string
	var code any
	end := func(first syscall.Signal) {
		_ = syscall.Kill(-cmd.Process.Pid, first)
		select {
		case err = <-ended:
		case <-time.After(grace):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			err = <-ended
		}
	}
	select {
	case err = <-ended:
		if at := cmd.ProcessState.ExitCode(); at >= 0 {
			code = at
		}
	case <-deadline:
		note = "process timed out"
		end(syscall.SIGTERM)
	case came := <-signals:
		number := came.(syscall.Signal)
		name := map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}
		code, note = 128+int(number), "process interrupted by signal "+name[number]
		end(number)
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) && !errors.Is(err, exec.ErrWaitDelay) && note == "" {
		message := "failed to write to stdin: " + err.Error()
		return object{"error": object{"kind": "execution", "message": message}}
	}
	if note != "" && errs.Len() > 0 {
		note = "\n" + note
	}
	errs.WriteString(note)
	return object{"result": object{
		"success":     note == "" && code == 0,
		"stdout":      stream(out.Bytes()),
		"stderr":      stream(errs.Bytes()),
		"exit_code":   code,
		"duration_ms": time.Since(began).Milliseconds(),
		"output":      nil,
	}}
}

// duration converts milliseconds; a value beyond the range of Go becomes the longest duration.
func duration(ms json.Number) time.Duration {
	count, err := ms.Int64()
	if err != nil || count > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(count) * time.Millisecond
}

func batch(runs []any) object {
	all := make([]object, len(runs))
	began := time.Now()
	var waiting sync.WaitGroup
	for i, each := range runs {
		entry := each.(object)
		request := entry["request"].(object)
		if err := checkRequest(request); err != nil {
			return refused(err)
		}
		after, _ := entry["after_ms"].(json.Number)
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			time.Sleep(time.Until(began.Add(duration(after))))
			all[i] = run(request)
		}()
	}
	waiting.Wait()
	return object{"result": object{"runs": all}}
}

func refused(err error) object {
	return object{"unsupported": object{"capability": err.Error(), "why": "not in this shim"}}
}

func hello(message object) object {
	return object{"result": object{
		"protocol":       1,
		"nonce":          message["nonce"],
		"pid":            os.Getpid(),
		"implementation": object{"name": "os/exec", "version": runtime.Version(), "language": "Go"},
		"spec_version":   "1.0",
		"capabilities":   []string{"exec", "exec.bytes", "exec.concurrent"},
		"limits":         object{"max_line_bytes": 1 << 24, "max_integer": "9223372036854775807"},
		"constants":      object{"grace_ms": grace.Milliseconds(), "tick_ms": 100},
		"backends":       object{},
	}}
}

func answer(message object, serving bool) object {
	switch message["op"] {
	case "hello":
		return hello(message)
	case "bye":
		return object{"result": object{}}
	}
	request, err := check(message)
	switch {
	case err != nil:
		return refused(err)
	case serving:
		return object{"error": object{"kind": "invalid_input", "message": "not under serve"}}
	case message["op"] == "exec.batch":
		return batch(message["runs"].([]any))
	}
	return run(request)
}

func read(text []byte) object {
	var message object
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&message); err != nil {
		panic(err)
	}
	return message
}

func written(message object, told object) []byte {
	told["id"] = message["id"]
	text, err := json.Marshal(told)
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}

func serve() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		message := read(line)
		_, _ = os.Stdout.Write(written(message, answer(message, true)))
		if message["op"] == "bye" {
			return
		}
	}
}

func runOnce(request, response string) {
	text, err := os.ReadFile(request)
	if err != nil {
		panic(err)
	}
	message := read(text)
	if err := os.WriteFile(response+".new", written(message, answer(message, false)), 0o644); err != nil {
		panic(err)
	}
	if err := os.Rename(response+".new", response); err != nil {
		panic(err)
	}
	if hold, given := message["hold"].(string); given {
		fifo, err := os.Open(hold)
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, fifo)
		_ = fifo.Close()
	}
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "run" {
		runOnce(os.Args[2], os.Args[3])
	} else {
		serve()
	}
}
