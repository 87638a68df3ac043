// The operations of the contract policy. This file needs no change.
package main

import (
	"encoding/json"
	"errors"
	"strings"
)

var hello = object{"implementation": about, "capabilities": capabilities}

var operations = map[string]operation{
	"glob.match":     {globMatch, "pattern pattern_b64 paths paths_b64", never},
	"policy.resolve": {policyResolve, "policy profile", never},
	"policy.check":   {policyCheck, "policy checks", never},
}

func never(message) bool { return false }

func globMatch(asked message) (any, error) {
	items, name := []object{}, "path"
	glob, why := textOf(asked, "pattern")
	if why != nil {
		return nil, why
	} else if asked["paths"] == nil {
		name = "path_b64"
	}
	for _, each := range field[[]json.RawMessage](asked, strings.Replace(name, "path", "paths", 1)) {
		var failure failed
		if path, why := textOf(message{name: each}, "path"); errors.As(why, &failure) {
			items = append(items, object{"error": failure.answer()})
		} else {
			items = append(items, object{"match": matches(glob, path)})
		}
	}
	return object{"items": items}, nil
}

func policyResolve(asked message) (any, error) {
	from, err := loaded(asked)
	if err != nil {
		return nil, err
	}
	profile, origin := profileOf(asked), "synthesized"
	rules, err := resolved(from, profile)
	if _, defined := from.FsProfiles[profile]; defined {
		origin = "defined"
	}
	return object{"profile": profile, "profile_origin": origin, "read": rules["read"],
		"modify": rules["modify"]}, err
}

func policyCheck(asked message) (any, error) {
	from, err := loaded(asked)
	if err != nil {
		return nil, err
	}
	checks := []object{}
	for _, each := range field[[]message](asked, "checks") {
		if err := refuseOthers(each, "op path path_b64 profile", "policy.check"); err != nil {
			return nil, err
		}
		var failure failed
		rules, err := resolved(from, profileOf(each))
		path, why := textOf(each, "path")
		if errors.As(errors.Join(err, why), &failure) {
			checks = append(checks, object{"error": failure.answer()})
		} else {
			checks = append(checks, check(rules[field[string](each, "op")], path))
		}
	}
	return object{"checks": checks}, nil
}
