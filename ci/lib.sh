# Shared by ci/test and its stages; source it, do not run it.

root=$(readlink -f -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/..")
python=$root/.venv/bin/python
reference() { printf '%s/build/%s/reference/boxspec-ref\n' "$root" "$1"; } # PRESET
# A complete run: every MUST must be decided, except those that need another system. Backends have a
# separate stage, because a rule that a mechanism declares not to enforce cannot be decided.
# shellcheck disable=SC2034
complete=(--contract exec --contract module --contract policy --contract process --contract sbpl
    --profile all --require-complete --known ci/known-linux.toml)
cd -- "$root"

# Slow work is spread over several commits; the commit's hash selects the share.
turn() {
    local commit
    commit=$(git rev-parse --short=7 HEAD 2>/dev/null) || commit=0
    printf '%s\n' "$((16#$commit))"
}
share() { printf '%s/%s' "$(($(turn) % $1 + 1))" "$1"; } # OF

# Print the lines of ctest, cmocka and pytest that name failures; they are far above the end of a
# log.
failures_of() { # LOG
    local ctest='\*\*\*(Failed|Timeout|Exception|Not Run)' cmocka='^(ERROR:|\[   LINE|\[  FAILED)'
    grep -E -- "$ctest|$cmocka|^(FAILED|ERROR) |^not ok" "$1" | head -n 30 || true
    # The output of a failed ctest program follows its line, up to the next test.
    awk -v failed="$ctest" '/^ *[0-9]+\/[0-9]+ Test |^ *Start +[0-9]+:/ { shown = 0 }
        shown-- > 0; $0 ~ failed { shown = 15 }' "$1"
}

# Run a test runner. Its closing lines (the last two that match PATTERN, else the very last line)
# and the failures go to descriptor 3, which ci/test shows; all output goes to the stage's log.
closing() { # PATTERN COMMAND...
    local pattern=$1 status=0 line output
    shift
    output=$(mktemp "${TMPDIR:-/tmp}/boxspec-ci-XXXXXX")
    printf '$ %s\n' "$*"
    "$@" 2>&1 3>&- | tee -- "$output" || status=$?
    line=$(grep -E -- "$pattern" "$output" | tail -n 2 || true)
    [[ -n $line ]] || line=$(grep -v '^[[:space:]]*$' "$output" | tail -n 1 || true)
    ((status == 0)) || line+=$'\n'$(failures_of "$output")
    rm -f -- "$output"
    { printf '%s\n' "$line" >&3; } 2>/dev/null || true
    return "$status"
}

# Delete the kept folders of failed cases if the command succeeds in the end.
tidied() { # COMMAND...
    local kept status=0
    kept=$(mktemp -d "${TMPDIR:-/tmp}/boxspec-ci-XXXXXX")
    chmod 755 -- "$kept"
    TMPDIR=$kept "$@" || status=$?
    if ((status == 0)); then rm -rf -- "$kept"; else rmdir -- "$kept" 2>/dev/null || true; fi
    return "$status"
}

# Judge the reference of a PRESET with a sanitizer. The sanitizer has signals and processes of its own,
# which can disturb a case (the stages say how). So up to three failed requirements are tried again,
# at most three times, and must conform once. A report of the sanitizer is never excused: all
# reports of all runs are collected, and one of them fails the stage. (LeakSanitizer also complains
# there that it cannot work under ptrace.)
run_sanitized() { # PRESET [ARGUMENTS OF boxspec run]
    local reports found status=0
    reports=$(mktemp -d "${TMPDIR:-/tmp}/boxspec-ci-XXXXXX")
    chmod 1777 -- "$reports" # some cases run as another user
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$reports/report \
    TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}log_path=$reports/report \
    UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}log_path=$reports/report \
        judge_sanitized "$@" || status=1
    found=$(grep -rlE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ' "$reports" || true)
    if [[ -n $found ]]; then
        status=1
        printf 'reports of the sanitizer: %s\n' "$(wc -l <<<"$found")" >&3
        xargs -d '\n' cat -- <<<"$found"
    fi
    rm -rf -- "$reports"
    return "$status"
}

judge_sanitized() { # PRESET [ARGUMENTS OF boxspec run]
    local shim result id pattern='^(PASS|FAIL|INCOMPLETE|NO VERDICT|STALE)| passed, '
    local -a failed
    shim=$(reference "$1")
    result=$root/build/run-$1.json
    closing "$pattern" ci/boxspec run "${complete[@]}" --pytest-summary \
        --json "$result" --shim "$shim" "${@:2}" && return
    mapfile -t failed < <("$python" -c '
import json, sys
tree = json.load(open(sys.argv[1]))
again = [r for r in tree["requirements"] if r["verdict"] != "conforms" and not r["known"]]
print(*[r["id"] for r in again if r["tests"]], sep="\n")
' "$result" | grep .)
    printf 'tried again: %s\n' "${failed[*]:-nothing}" >&3
    ((${#failed[@]} > 0 && ${#failed[@]} <= 3)) || return 1
    for id in "${failed[@]}"; do
        set -- ci/boxspec repro --pytest-summary --shim "$shim" "$id"
        closing "$pattern" "$@" || closing "$pattern" "$@" || closing "$pattern" "$@" || return 1
    done
}

# Run both halves of a stage, even if the first one fails.
failures=0
also() { "$@" || failures=$((failures + 1)); }
finish() { exit "$((failures > 0))"; }

# Make an environment that builds the wheels without isolation: the tools, and the dependencies of the
# kit, whose parsers the manual pages are made from (conformance/install/hook.py).
packaging_tools() { # FOLDER INTERPRETER [PACKAGE...]
    local -a needs
    mapfile -t needs < <(sed -n '/^dependencies = \[/,/^\]/s/^ *"\(.*\)",$/\1/p' conformance/pyproject.toml)
    "$2" -m venv "$1"
    "$1/bin/pip" --quiet --disable-pip-version-check install build hatchling argparse-manpage shtab \
        "${needs[@]}" "${@:3}"
}
