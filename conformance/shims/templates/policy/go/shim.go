// A shim for boxspec, contract policy. Five places say FILL IN: name, capabilities, and how to
// match a glob, to resolve a profile and to check a path. Until then globs.go matches the rules and
// policies.go loads the files, so that `boxspec run` begins with a shim that conforms to profile
// contract. A failure is then about your code. The other files need no change.
package main

import "strings"

// FILL IN: the name and version of your implementation.
var about = object{"name": "my-implementation", "version": "0.1", "language": "Go"}

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
var capabilities = []string{"glob", "policy", "policy.json"}

// FILL IN: whether a glob matches a path.
func matches(glob, name string) bool {
	return pattern(glob).MatchString(name)
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

func profileOf(asked message) string {
	if name := field[string](asked, "profile"); asked["profile"] != nil {
		return name
	}
	return "unrestricted"
}
