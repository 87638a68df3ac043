// A shim for boxspec, contract module. Three places say FILL IN: name, capabilities, and how to
// execute a module. Until then modules are executed by running.go, so that `boxspec run` begins with
// a shim that conforms to profile contract. A failure is then about your code. The other files need
// no change.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
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
	full, _ := filepath.Abs(folder)
	done, why := run(program, input, timeout, full, environment(full))
	var stopped interrupted
	if why != nil {
		return failure("SpawnFailed", module, "message", why.Error())
	} else if done.ended == errTimeout {
		return failure("Timeout", module, "timeout_ms", timeout)
	} else if errors.As(done.ended, &stopped) {
		return failure("Interrupted", module, "signal", names[stopped.Signal])
	} else if done.code != 0 {
		told := failure("NonZeroExit", module, "exit_code", done.code)
		told["error"].(object)["stderr"] = strings.ToValidUTF8(string(done.err), "\uFFFD")
		return told
	}
	value, why := valueOf(done.out)
	if why != nil {
		return failure("OutputParseFailed", module, "reason", why.Error())
	}
	return object{"value": value}
}

func moduleExecute(asked message) (any, error) {
	module, root := field[string](asked, "module_id"), string(content(asked, "extensions_root"))
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
