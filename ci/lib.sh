# Shared by ci/test and its stages. Sourced, never run.

root=$(readlink -f -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/..")
python=$root/.venv/bin/python
reference() { printf '%s/build/%s/reference/boxspec-ref\n' "$root" "$1"; } # PRESET
# What a run of everything asks for: each MUST decided, but for those that need another system.
# Backends have a stage of their own: what a mechanism declares not to enforce cannot be decided.
# shellcheck disable=SC2034
complete=(--contract exec --contract module --contract policy --contract process --contract sbpl
    --profile all --require-complete --known ci/known-linux.toml)
cd -- "$root"

# What takes turns is asked at one commit of several; the commit decides which.
turn() {
    local commit
    commit=$(git rev-parse --short=7 HEAD 2>/dev/null) || commit=0
    printf '%s\n' "$((16#$commit))"
}
share() { printf '%s/%s' "$(($(turn) % $1 + 1))" "$1"; } # OF

# The lines of ctest, cmocka and pytest that name what failed; they stand far above a log's end.
failures_of() { # LOG
    local ctest='\*\*\*(Failed|Timeout|Exception|Not Run)' cmocka='^(ERROR:|\[   LINE|\[  FAILED)'
    grep -E -- "$ctest|$cmocka|^(FAILED|ERROR) |^not ok" "$1" | head -n 30 || true
    # What a failed program of ctest said stands below its line, up to the next one.
    awk -v failed="$ctest" '/^ *[0-9]+\/[0-9]+ Test |^ *Start +[0-9]+:/ { told = 0 }
        told-- > 0; $0 ~ failed { told = 15 }' "$1"
}

# Runs a test runner. Its closing lines (the last two that match PATTERN, else the last one at
# all) and what failed go to descriptor 3, which ci/test shows; everything goes to the stage's log.
closing() { # PATTERN COMMAND...
    local pattern=$1 status=0 line said
    shift
    said=$(mktemp "${TMPDIR:-/tmp}/boxspec-ci-XXXXXX")
    printf '$ %s\n' "$*"
    "$@" 2>&1 3>&- | tee -- "$said" || status=$?
    line=$(grep -E -- "$pattern" "$said" | tail -n 2 || true)
    [[ -n $line ]] || line=$(grep -v '^[[:space:]]*$' "$said" | tail -n 1 || true)
    ((status == 0)) || line+=$'\n'$(failures_of "$said")
    rm -f -- "$said"
    { printf '%s\n' "$line" >&3; } 2>/dev/null || true
    return "$status"
}

# What a command keeps of failed cases goes when the command succeeds in the end.
tidied() { # COMMAND...
    local kept status=0
    kept=$(mktemp -d "${TMPDIR:-/tmp}/boxspec-ci-XXXXXX")
    chmod 755 -- "$kept"
    TMPDIR=$kept "$@" || status=$?
    if ((status == 0)); then rm -rf -- "$kept"; else rmdir -- "$kept" 2>/dev/null || true; fi
    return "$status"
}

# The reference of a PRESET with a sanitizer, judged. A sanitizer takes signals and processes of its
# own into what is looked at, so up to three requirements that fail are asked again, three times each,
# and have to conform each time: a data race that comes now and then is not forgiven for its absence
# once. The stages say what was seen.
judge_sanitized() { # PRESET [WORDS OF boxspec run]
    local shim result id
    local -a again
    shim=$(reference "$1")
    result=$root/build/run-$1.json
    closing '^contract MUST| passed, ' ci/boxspec run "${complete[@]}" --pytest-summary \
        --json "$result" --shim "$shim" "${@:2}" && return
    mapfile -t again < <("$python" -c '
import json, sys
tree = json.load(open(sys.argv[1]))
again = [r for r in tree["requirements"] if r["verdict"] != "conforms" and not r["known"]]
print(*[r["id"] for r in again if r["tests"]], sep="\n")
' "$result" | grep .)
    printf 'asked three times more: %s\n' "${again[*]:-nothing}" >&3
    ((${#again[@]} > 0 && ${#again[@]} <= 3)) || return 1
    for id in "${again[@]}" "${again[@]}" "${again[@]}"; do
        also closing '^contract MUST| passed, ' ci/boxspec repro --pytest-summary --shim "$shim" "$id"
    done
    ((failures == 0))
}

# Two halves of a stage: the second runs although the first failed.
failures=0
also() { "$@" || failures=$((failures + 1)); }
finish() { exit "$((failures > 0))"; }
