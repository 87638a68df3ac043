// A shim for boxspec, contract module. Three places say FILL IN: name, capabilities, and how to
// execute a module. Until then modules are executed by os/exec, so that `boxspec smoke` and
// `boxspec run` answer at once. The other files need no change.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// FILL IN: the name and version of your implementation.
var about = object{"name": "my-implementation", "version": "0.1", "language": "Go"}

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
var capabilities = []string{"module"}

func failure(class, module, name string, value any) object {
	return object{"error": object{"class": class, "module_id": module, name: value}}
}

// Return the environment of a module: a few variables of the caller, and no secret.
func environment(folder string) []string {
	given := []string{"HOME=" + folder, "TMPDIR=" + folder}
	for _, each := range os.Environ() {
		name, _, _ := strings.Cut(each, "=")
		own := strings.HasPrefix(name, "APCORE_") && !strings.HasPrefix(name, "APCORE_AUTH_")
		if own || name == "PATH" || name == "LANG" || name == "LC_ALL" {
			given = append(given, each)
		}
	}
	return given
}

// FILL IN: execute one module in a child process; return `value` or `error`.
func execute(module, program string, input json.RawMessage, timeout int64) object {
	folder, why := os.MkdirTemp("", "module-")
	if why != nil {
		return failure("SpawnFailed", module, "message", why.Error())
	}
	defer os.RemoveAll(folder)
	limit := time.Duration(timeout) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, err bytes.Buffer
	command := exec.CommandContext(ctx, program)
	command.Dir, command.Env, command.Stdin = folder, environment(folder), bytes.NewReader(input)
	command.Stdout, command.Stderr = &out, &err
	if why := command.Start(); why != nil {
		return failure("SpawnFailed", module, "message", why.Error())
	}
	command.Wait()
	state := command.ProcessState
	if ctx.Err() != nil {
		return failure("Timeout", module, "timeout_ms", timeout)
	} else if code := state.ExitCode(); code != 0 {
		told := failure("NonZeroExit", module, "exit_code", code)
		told["error"].(object)["stderr"] = strings.ToValidUTF8(err.String(), "\uFFFD")
		return told
	} else if !json.Valid(out.Bytes()) {
		return failure("OutputParseFailed", module, "reason", "the output is not one JSON value")
	}
	return object{"value": json.RawMessage(bytes.TrimSpace(out.Bytes()))}
}

func moduleExecute(asked message) (any, error) {
	module, root := field[string](asked, "module_id"), field[string](asked, "extensions_root")
	if !startsAChild(asked) {
		return failure("NotWired", module, "message", "modules run only in a child"), nil
	} else if root == "" {
		root = os.Getenv("APCORE_EXTENSIONS_ROOT")
	}
	if root == "" {
		root = "./extensions"
	}
	program, _ := filepath.Abs(filepath.Join(root, module))
	if found, why := os.Stat(program); errors.Is(why, os.ErrNotExist) || why == nil && found.IsDir() {
		return failure("SpawnFailed", module, "message", "module not found: "+program), nil
	}
	timeout := field[int64](asked, "timeout_ms")
	if timeout == 0 {
		timeout = 300_000
	}
	return execute(module, program, asked["input"], timeout), nil
}

func startsAChild(asked message) bool {
	return asked["enabled"] == nil || field[bool](asked, "enabled")
}
