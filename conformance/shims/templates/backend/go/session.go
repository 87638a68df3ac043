// The sessions of a sandbox: the environment and the calls. This file needs no change.
package main

import (
	"os"
	"path/filepath"
	"strings"
)

func session(asked message) (any, error) {
	context := field[message](asked, "context")
	if why := refuseOthers(context, "root cwd profile egress", "backend.policy"); why != nil {
		return nil, why
	}
	found, why := probe(message{"backend": asked["backend"], "profile": context["profile"],
		"egress": context["egress"]})
	if why != nil {
		return nil, why
	}
	root, why := filepath.EvalSymlinks(field[string](context, "root"))
	at, whyNot := root, error(nil)
	if given := field[string](context, "cwd"); given != "" {
		at, whyNot = filepath.EvalSymlinks(given)
	}
	if info, missing := os.Stat(root); why != nil || whyNot != nil || missing != nil || !info.IsDir() ||
		at != root && !strings.HasPrefix(at, root+"/") {
		return nil, failed{"invalid_input", "the root or the cwd is no directory of the workspace"}
	}
	probed, reasons := found.(object), []string{}
	for _, each := range probed["aspects"].(object) {
		if told, ok := each.(object)["reasons"].([]string); ok {
			reasons = append(reasons, told...)
		}
	}
	enforcement := probed["overall"].(string)
	log := []object{{"call": "probe", "ok": true}}
	result := object{"session": "refused", "claims": probed, "not_enforced": []string{}, "log": log,
		"reasons": reasons, "warnings": []string{}, "calls": []object{}, "enforcement": "none"}
	if enforcement != "fully" && field[string](asked, "on_unavailable") != "degrade" {
		result["why"] = "the sandbox is " + enforcement
		return result, nil
	}
	confine := enforcement != "unavailable"
	if !confine {
		enforcement = "none"
		result["warnings"] = []string{"the calls run WITHOUT a sandbox"}
	}
	scratch, why := os.MkdirTemp("", "scratch-")
	if why != nil {
		return nil, why
	}
	defer os.RemoveAll(scratch)
	calls := []object{}
	for _, each := range field[[]message](asked, "calls") {
		request, place := field[message](each, "request"), at
		if given := field[string](request, "current_dir"); given != "" {
			place = given
		}
		argv := append([]string{field[string](request, "program")}, field[[]string](request, "args")...)
		line := argv
		if confine {
			line = command(argv, root, scratch, place, field[string](context, "profile"))
		}
		done, why := run(request, line, place, environment(request, scratch))
		if why != nil {
			return nil, why
		}
		told, ran := done["result"].(object)
		if ran {
			told["enforcement"] = enforcement
		}
		calls = append(calls, done)
		log = append(log, object{"call": "wrap", "ok": true}, object{"call": "run", "ok": ran})
	}
	result["session"], result["enforcement"], result["calls"] = "opened", enforcement, calls
	result["log"] = append(log, object{"call": "shutdown", "ok": true})
	return result, nil
}

func environment(request message, scratch string) []string {
	passed := []string{"TMPDIR=" + scratch}
	if env := field[message](request, "env"); env != nil {
		for _, pair := range field[[][2]string](env, "clear_and_set") {
			passed = append([]string{pair[0] + "=" + pair[1]}, passed...)
		}
		return passed
	}
	for _, each := range os.Environ() {
		key, _, _ := strings.Cut(each, "=")
		if strings.Contains(" PATH HOME USER LOGNAME SHELL TZ LANG LANGUAGE ", " "+key+" ") ||
			strings.HasPrefix(key, "LC_") {
			passed = append(passed, each)
		}
	}
	return passed
}
