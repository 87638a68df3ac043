// A shim for boxspec, contract backend. Four places say FILL IN: name, the features that your
// sandbox lacks, its claims, and its command line. Until then programs are confined by bubblewrap,
// so that `boxspec smoke` and `boxspec run` answer at once. The other files need no change.
package main

// FILL IN: the name and version of your sandbox, and how it confines.
var about = object{"name": "my-implementation", "version": "0.1", "language": "Go"}

const name, mechanism = "mine", "namespaces"

// FILL IN: what your sandbox does not have: "open network", "cache", or a profile.
var lacks = []string{"cache", "full-dev"}

// FILL IN: its claims: "fully", or the reason why an aspect is not enforced.
var claims = map[string]string{
	"fs-write":    "fully",
	"fs-metadata": "fully",
	"process":     "fully",
	"network":     "this sandbox leaves the network open",
	"ipc":         "this sandbox shares queues, shared memory and sockets with the host",
}

// FILL IN: the command that runs `argv` in your sandbox. Programs may write in `root` (not under
// the profile read-only) and in `scratch`, a private directory outside the root, and start in
// `cwd`.
func command(argv []string, root, scratch, cwd, profile string) []string {
	words := []string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-user",
		"--unshare-pid", "--proc", "/proc", "--die-with-parent", "--new-session", "--bind",
		scratch, scratch}
	bind := "--bind"
	if profile == "read-only" {
		bind = "--ro-bind"
	}
	return append(append(words, bind, root, root, "--chdir", cwd, "--"), argv...)
}

var hello = object{"implementation": about, "capabilities": []string{"backend"},
	"backends": object{name: object{"mechanism": mechanism, "lacks": lacks}}}

var operations = map[string]operation{
	"backend.probe": {probe, "backend profile egress", always},
	"backend.run":   {session, "backend on_unavailable context calls", always},
}

func always(message) bool { return true }
