package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"
)

const short = 65536

func (each *process) act(kind string, step object) object {
	stream := text(step, "stream")
	if stream == "" {
		stream = "stdin"
	}
	switch kind {
	case "streams":
		told := object{}
		for _, name := range streams {
			told[name] = each.streams[name] != nil
		}
		return told
	case "take": // the result of StdoutPipe, which stays
		return object{"taken": each.streams[stream] != nil}
	case "write":
		written, why := each.streams["stdin"].(io.Writer).Write([]byte(text(step, "data")))
		var errno syscall.Errno
		if errors.As(why, &errno) {
			return object{"written": written, "errno": errnoName(errno)}
		} else if why != nil {
			return failed(why)
		}
		return object{"written": written}
	case "read_until":
		return readUntil(each.streams[stream].(io.Reader), text(step, "until"))
	case "read_eof":
		return readEOF(each.streams[stream].(io.Reader))
	case "close_stdin":
		_ = each.streams["stdin"].Close()
		return object{}
	case "poll":
		return each.wait(time.After(0))
	case "wait":
		if _, given := step["timeout_ms"]; !given {
			return each.wait(nil)
		}
		return each.wait(time.After(time.Duration(number(step["timeout_ms"], 0)) * time.Millisecond))
	case "terminate":
		return done(each.signal(syscall.SIGTERM))
	case "kill":
		return done(each.signal(syscall.SIGKILL))
	case "drop":
		return object{}
	}
	return failed(refused("a Cmd has nothing that ends it in order"))
}

func readUntil(from io.Reader, until string) object {
	data, one := "", make([]byte, 1)
	for !strings.HasSuffix(data, until) {
		if count, _ := from.Read(one); count == 0 {
			return object{"data_b64": base64.StdEncoding.EncodeToString([]byte(data)), "eof": true}
		}
		data += string(one)
	}
	return object{"data_b64": base64.StdEncoding.EncodeToString([]byte(data)), "eof": false}
}

func readEOF(from io.Reader) object {
	data, why := io.ReadAll(from)
	if why != nil {
		return failed(why)
	}
	told := object{"bytes": len(data), "sha256": fmt.Sprintf("%x", sha256.Sum256(data))}
	if len(data) <= short {
		told["data_b64"] = base64.StdEncoding.EncodeToString(data)
	}
	return told
}

func number(value any, absent uint64) uint64 {
	if given, found := value.(json.Number); found {
		var made uint64
		_, _ = fmt.Sscan(given.String(), &made)
		return made
	}
	return absent
}
