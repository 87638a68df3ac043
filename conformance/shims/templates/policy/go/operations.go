// The operations of the contract policy. This file needs no change.
package main

import "errors"

var hello = object{"implementation": about, "capabilities": capabilities}

var operations = map[string]operation{
	"glob.match":     {globMatch, "pattern paths", never},
	"policy.resolve": {policyResolve, "policy profile", never},
	"policy.check":   {policyCheck, "policy checks", never},
}

func never(message) bool { return false }

func globMatch(asked message) (any, error) {
	items := []object{}
	for _, each := range field[[]string](asked, "paths") {
		items = append(items, object{"match": matches(field[string](asked, "pattern"), each)})
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
		if err := refuseOthers(each, "op path profile", "policy.check"); err != nil {
			return nil, err
		}
		var failure failed
		if rules, err := resolved(from, profileOf(each)); errors.As(err, &failure) {
			checks = append(checks, object{"error": failure.answer()})
		} else {
			checks = append(checks, check(rules[field[string](each, "op")], field[string](each, "path")))
		}
	}
	return object{"checks": checks}, nil
}
