package yourparser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzTake begins with the files of the folder BOXSPEC_CORPUS. `go test` keeps its findings in
// testdata/fuzz and runs them every time.
func FuzzTake(f *testing.F) {
	names, _ := filepath.Glob(filepath.Join(os.Getenv("BOXSPEC_CORPUS"), "*"))
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(text)
		}
	}
	if len(names) == 0 {
		f.Fatal("BOXSPEC_CORPUS names no folder of inputs: fuzz/corpus/policy_json of boxspec")
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := string(text)
		taken := take(text)
		if string(text) != before {
			t.Error("input: the text was written to")
		}
		if take([]byte(before)) != taken {
			t.Error("again: a second time the outcome is another one")
		}
		// encoding/json replaces invalid UTF-8 and accepts unpaired surrogates.
		if taken && !(json.Valid([]byte(before)) && utf8.ValidString(before)) {
			t.Errorf("taken: this is not well-formed, and is taken: %q", before)
		}
	})
}
