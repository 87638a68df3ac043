// The steps of a script on one handle. This file needs no change.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

func (h *handle) step(step message) (object, error) {
	what, stream := field[string](step, "step"), field[string](step, "stream")
	if stream == "" {
		stream = "stdin"
	}
	if what == "open" {
		return h.open()
	} else if what == "drop" {
		h.drop()
		return object{}, nil
	} else if h.command == nil {
		return nil, failed{"invalid_input", "the handle is not open"}
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	taken, pipe := h.owned[stream], h.pipes[stream]
	if what == "take" {
		delete(h.owned, stream)
		return object{"taken": taken}, nil
	}
	h.lock.Unlock()
	defer h.lock.Lock()
	switch what {
	case "streams":
		return object{"stdin": h.owned["stdin"], "stdout": h.owned["stdout"], "stderr": h.owned["stderr"]}, nil
	case "write":
		write := h.pipes["stdin"].Write
		if field[bool](h.asked, "nonblocking") {
			write = func(data []byte) (int, error) { return writeAtOnce(h.pipes["stdin"], data) }
		}
		count, why := write(content(step, "data"))
		var number syscall.Errno
		if errors.As(why, &number) {
			return object{"written": count, "errno": map[syscall.Errno]string{syscall.EPIPE: "EPIPE",
				syscall.EAGAIN: "EAGAIN"}[number]}, nil
		}
		return object{"written": count}, why
	case "read_until":
		end, data, one := content(step, "until"), []byte{}, make([]byte, 1)
		for !bytes.HasSuffix(data, end) {
			if count, _ := pipe.Read(one); count == 0 {
				return object{"data_b64": data, "eof": true}, nil
			}
			data = append(data, one...)
		}
		return object{"data_b64": data, "eof": false}, nil
	case "read_eof":
		data, _ := io.ReadAll(pipe)
		told := object{"bytes": len(data), "sha256": fmt.Sprintf("%x", sha256.Sum256(data))}
		if len(data) <= 1<<16 {
			told["data_b64"] = data
		}
		return told, nil
	case "close_stdin":
		return object{}, h.pipes["stdin"].Close()
	case "poll":
		return h.wait(message{"timeout_ms": []byte("0")})
	case "wait":
		return h.wait(step)
	case "terminate", "kill":
		h.command.Process.Signal(map[string]os.Signal{"terminate": syscall.SIGTERM, "kill": syscall.SIGKILL}[what])
		return object{}, nil
	case "close":
		h.command.Process.Signal(syscall.SIGTERM)
		grace := int64(5000)
		if step["grace_ms"] != nil {
			grace = field[int64](step, "grace_ms")
		}
		h.wait(message{"timeout_ms": []byte(strconv.FormatInt(grace, 10))})
		h.drop()
		told, why := h.wait(message{})
		told["detached_writers"] = false
		return told, why
	}
	return nil, failed{"invalid_input", "there is no step " + what}
}

func (h *handle) drop() {
	if h.command != nil {
		syscall.Kill(-h.command.Process.Pid, syscall.SIGKILL) // the group may outlive its leader
		<-h.ended
		h.owned = map[string]bool{}
	}
}
