// The claims of a sandbox on this host. This file needs no change.
package main

import (
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

var requested = map[string]string{
	"read-only":  "fs-write fs-metadata process",
	"repo-write": "fs-write fs-metadata process",
	"full-dev":   "fs-write fs-metadata process",
	"no-network": "fs-write fs-metadata process network",
	"ci-only":    "fs-write fs-metadata process network ipc",
}

var host = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Return true for host:port, [address]:port and *.
func isDestination(text string) bool {
	at := strings.LastIndex(text, ":")
	if at < 0 {
		return text == "*"
	}
	port, why := strconv.ParseUint(text[at+1:], 10, 16)
	address, whyNot := netip.ParseAddrPort(text)
	return why == nil && port > 0 && (host.MatchString(text[:at]) || whyNot == nil && address.Addr().Is6())
}

// Return why the sandbox runs no program here, or an empty string.
func missing() string {
	folder, why := os.MkdirTemp("", "probe-")
	if why != nil {
		return why.Error()
	}
	defer os.RemoveAll(folder)
	line := command([]string{"true"}, folder, folder, folder, "repo-write")
	out, why := exec.Command(line[0], line[1:]...).CombinedOutput()
	if why != nil {
		return why.Error() + " " + strings.ToValidUTF8(string(out), "?")
	}
	return ""
}

func probe(asked message) (any, error) {
	if field[string](asked, "backend") != name {
		return nil, failed{"invalid_input", "there is no such backend"}
	}
	aspects := object{"fs-read": object{"claim": "not-requested"},
		"limits": object{"claim": "not-requested"}}
	wanted, whyNot := requested[field[string](asked, "profile")], missing()
	lists := false
	for _, each := range field[[]string](asked, "egress") {
		if !isDestination(each) {
			return nil, failed{"invalid_input", "egress: not host:port, [address]:port or *"}
		}
		lists = true
	}
	if lists && strings.Contains(wanted, "network") {
		return nil, failed{"invalid_input", "egress contradicts the profile"}
	} else if lists {
		wanted += " network"
	}
	fully, none := 0, 0
	for aspect, claim := range claims {
		told, isWanted := object{"claim": "fully"}, strings.Contains(wanted+" ", aspect+" ")
		if aspect == "network" && lists {
			claim = "this sandbox has no list of destinations"
		}
		if whyNot != "" {
			claim = whyNot
		}
		if claim != "fully" && (isWanted || whyNot != "") {
			told = object{"claim": "unavailable", "reasons": []string{claim}}
		} else if claim != "fully" {
			told = object{"claim": "not-requested"}
		}
		aspects[aspect] = told
		if isWanted && told["claim"] == "fully" {
			fully++
		} else if isWanted {
			none++
		}
	}
	overall := "partial"
	if none == 0 {
		overall = "fully"
	} else if fully == 0 {
		overall = "unavailable"
	}
	return object{"overall": overall, "aspects": aspects, "not_enforced": []string{}}, nil
}
