// A shim for boxspec, contract policy. Five places say FILL IN: name, capabilities, and how to
// match a glob, to resolve a profile and to check a path. Until then rules are matched by
// path.Match, so that `boxspec smoke` and `boxspec run` answer at once. The other files need no
// change.
package main

import (
	"encoding/json"
	"path"
	"strings"
)

// FILL IN: the name and version of your implementation.
var about = object{"name": "my-implementation", "version": "0.1", "language": "Go"}

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
var capabilities = []string{"glob", "policy", "policy.json"}

// FILL IN: whether a glob matches a path.
func matches(glob, name string) bool {
	if strings.HasSuffix(glob, "**") {
		return strings.HasPrefix(name, strings.TrimSuffix(glob, "**"))
	}
	found, _ := path.Match(glob, name)
	return found
}

type lists struct{ Read, Modify []string }

type spec struct {
	DenyRead, DenyModify []string
	FsProfiles           map[string]lists
}

// FILL IN: the rules of a profile with the global denies, in the order in which they count. A rule
// with `!` denies. Exceptions in denyModify are not handled here.
func resolved(from spec, profile string) (map[string][]string, error) {
	rules, defined := from.FsProfiles[profile]
	if !defined && profile != "unrestricted" {
		return nil, failed{"invalid_input", "there is no profile `" + profile + "`"}
	} else if !defined {
		rules = lists{[]string{"**"}, []string{"**"}}
	}
	read, modify := append([]string{}, rules.Read...), append([]string{}, rules.Modify...)
	for _, each := range from.DenyRead {
		read = append(read, "!"+each)
	}
	for _, each := range from.DenyModify {
		modify = append(modify, "!"+each)
	}
	return map[string][]string{"read": read, "modify": modify}, nil
}

// FILL IN: decide by the last rule that matches; without a match the path is denied.
func check(rules []string, name string) object {
	matched := "[]"
	for at := len(rules) - 1; at >= 0; at-- {
		body := strings.TrimPrefix(rules[at], "!")
		if matches(body, name) {
			return object{"allowed": body == rules[at], "path": name, "matched_rule": body}
		} else if body == rules[at] {
			matched = "<no matching rule>"
		}
	}
	return object{"allowed": false, "path": name, "matched_rule": matched}
}

// Return the `spec` of a policy file in JSON, and the name of the profile.
func loaded(asked message) (from spec, err error) {
	source := field[message](asked, "policy")
	if err = refuseOthers(source, "format text", "policy"); err != nil {
		return
	} else if field[string](source, "format") != "json" {
		return from, unsupported{"policy.yaml", "not in this shim"}
	}
	var file struct{ Spec *spec }
	why := json.Unmarshal([]byte(field[string](source, "text")), &file)
	if why != nil || file.Spec == nil {
		return from, failed{"invalid_input", "the policy does not load"}
	}
	return *file.Spec, nil
}

func profileOf(asked message) string {
	if name := field[string](asked, "profile"); asked["profile"] != nil {
		return name
	}
	return "unrestricted"
}
