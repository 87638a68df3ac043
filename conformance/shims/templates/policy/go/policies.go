// Load a policy file in JSON, with the file of a workspace merged over it.
package main

import (
	"encoding/json"
	"strings"
)

type lists struct{ Read, Modify []string }

type spec struct {
	DenyRead, DenyModify []string
	FsProfiles           map[string]lists
}

// Return the `spec` of a policy. It fails if a required part is missing.
func loaded(asked message) (from spec, err error) {
	source := field[message](asked, "policy")
	if err = refuseOthers(source, "format text text_b64 workspace", "policy"); err != nil {
		return
	} else if field[string](source, "format") != "json" {
		return from, unsupported{"policy.yaml", "not in this shim"}
	}
	from, err = specOf(source)
	if workspace := field[message](source, "workspace"); err == nil && workspace != nil {
		var below spec
		if err = refuseOthers(workspace, "format text text_b64", "policy"); err == nil {
			below, err = specOf(workspace)
		}
		from = merged(from, below)
	}
	return
}

func specOf(source message) (spec, error) {
	text, why := textOf(source, "text")
	if why != nil {
		return spec{}, why
	}
	var file struct {
		SchemaVersion json.Number
		Kind          string
		Metadata      struct{ Name *string }
		Spec          *spec
	}
	if why = json.Unmarshal([]byte(text), &file); why != nil {
		return spec{}, failed{"invalid_input", "the policy does not load: " + why.Error()}
	} else if file.SchemaVersion != "2" || file.Kind != "Policy" || file.Metadata.Name == nil ||
		file.Spec == nil {
		return spec{}, failed{"invalid_input", "it is no Policy of version 2 with a name"}
	}
	for name, profile := range file.Spec.FsProfiles {
		for _, rule := range profile.Modify {
			if !strings.HasPrefix(rule, "!") && !covered(profile.Read, rule) {
				return spec{}, failed{"invalid_input",
					"profile " + name + ": no read rule covers the modify rule " + rule}
			}
		}
	}
	return *file.Spec, nil
}

// Return whether one of these read rules covers a modify rule. A rule with `!` covers none.
func covered(reads []string, modify string) bool {
	for _, read := range reads {
		above, whole := strings.CutSuffix(read, "/**")
		below := whole && (modify == above || strings.HasPrefix(modify, above+"/"))
		if !strings.HasPrefix(read, "!") && (below || read == modify || read == "**" || read == "./**") {
			return true
		}
	}
	return false
}

// Merge the `spec` of a workspace over the global one. A profile of the workspace replaces the
// global one of its name. Its denies come last.
func merged(above, below spec) spec {
	profiles := map[string]lists{}
	for _, from := range []spec{above, below} {
		for name, each := range from.FsProfiles {
			profiles[name] = each
		}
	}
	return spec{append(above.DenyRead, below.DenyRead...),
		append(above.DenyModify, below.DenyModify...), profiles}
}
