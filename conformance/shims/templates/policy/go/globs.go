// Match a path by a glob. Your own function replaces this file.
package main

import (
	"regexp"
	"strings"
)

var (
	compiled = map[string]*regexp.Regexp{}
	wild     = regexp.MustCompile(`(^|/)\*\*/|\*\*|\*|\?`)
)

// Return the regular expression of a glob. `**/` matches zero or more directories, and `P/**`
// also P.
func pattern(glob string) *regexp.Regexp {
	if found := compiled[glob]; found != nil {
		return found
	}
	body, below := strings.CutSuffix(strings.TrimPrefix(strings.Trim(glob, " \t"), "./"), "/**")
	text, end := "", 0
	for _, at := range wild.FindAllStringIndex(body, -1) {
		text += regexp.QuoteMeta(body[end:at[0]])
		end = at[1]
		switch part := body[at[0]:end]; part {
		case "*":
			text += "[^/]*"
		case "?":
			text += "[^/]"
		case "**":
			text += ".*"
		default:
			text += strings.TrimSuffix(part, "**/") + "(?:.*/)?"
		}
	}
	text += regexp.QuoteMeta(body[end:])
	if below {
		text += "(?:/.*)?"
	}
	compiled[glob] = regexp.MustCompile("(?s)^(?:" + text + ")$")
	return compiled[glob]
}
