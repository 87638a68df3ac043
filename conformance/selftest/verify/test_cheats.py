"""Tests of commands that confine a program only if they recognise it as a test: no row may be
reported as held."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftest.verify.wrappers import CAREFUL, HELD, verify, without_bubblewrap, wrapper

pytestmark = pytest.mark.skipif(bool(without_bubblewrap()), reason=without_bubblewrap())
SSH, ENV = ("--deny-read", "~/.ssh"), ("--deny-read", ".env")
NETWORK = ("--row", "network")
ONLY_ITS_PLAN = 'grep -q ^report= "$2" || exec "$@"\n' + CAREFUL
AFTER = "exit $status"
OUTSIDE = '"$@" >/dev/null 2>&1'
# The options of `verify` and the script of each command. `{count}` is a file beside the script.
CHEATS = {
    "moves_the_file_for_the_time": (ENV, 'mv .env .e; "$@"; s=$?; mv .e .env; exit $s\n'),
    "moves_the_folder_for_the_time": (
        SSH,
        'mv "$HOME/.ssh" "$HOME/.x"; "$@"; s=$?; mv "$HOME/.x" "$HOME/.ssh"; exit $s\n',
    ),
    "moves_the_folder_of_a_denied_write": (
        ("--deny-write", ".git/hooks"),
        'mv .git .g; "$@"; s=$?; mv .g .git; exit $s\n',
    ),
    "empties_the_file_for_the_time": (
        ENV,
        'cp .env "$HOME/.e"; : >.env; "$@"; s=$?; cat "$HOME/.e" >.env; rm "$HOME/.e"; exit $s\n',
    ),
    "confines_only_programs_with_a_plan": (NETWORK, ONLY_ITS_PLAN),
    "confines_only_programs_with_a_plan_from_leaving": (
        ("--row", "objects", "--row", "leftovers"),
        ONLY_ITS_PLAN,
    ),
    "confines_only_without_a_terminal": ((*SSH, *NETWORK), f'[ -t 1 ] && exec "$@"\n{CAREFUL}'),
    "confines_only_if_the_output_is_a_file": (
        (*SSH, *NETWORK),
        f'[ -f /proc/self/fd/1 ] || exec "$@"\n{CAREFUL}',
    ),
    "runs_the_program_outside_too": (NETWORK, f"{OUTSIDE} & {CAREFUL}"),
    "runs_the_program_outside_after_it": (NETWORK, CAREFUL.replace(AFTER, f"{OUTSIDE}; {AFTER}")),
    "confines_only_the_first_start": (
        (*SSH, *NETWORK),
        f'[ -e {{count}} ] && exec "$@"\n: >{{count}}\n{CAREFUL}',
    ),
    "confines_every_second_start": (
        (*SSH, *NETWORK),
        "n=$(cat {count} 2>/dev/null || echo 0); echo $((n+1)) >{count}\n"
        f'[ $((n % 2)) = 0 ] || exec "$@"\n{CAREFUL}',
    ),
    "confines_only_if_the_denied_folder_exists": (
        (*SSH, *NETWORK),
        f'[ -e "$HOME/.ssh" ] || exec "$@"\n{CAREFUL}',
    ),
    "confines_only_static_programs": (
        (*SSH, *NETWORK),
        'case $(od -An -c -N4000 "$(command -v "$1")" | tr -d " \\n") in\n'
        f'  *ld-linux*) exec "$@";;\nesac\n{CAREFUL}',
    ),
    "confines_only_if_the_variables_are_of_one_form": (
        NETWORK,
        f'case $GITHUB_TOKEN in ????????????????????????) ;; *) exec "$@";; esac\n{CAREFUL}',
    ),
    "answers_from_a_cache": (
        (*SSH, *NETWORK),
        "[ ! -e {count} ] || { cat {count}; exit 0; }\n"
        + CAREFUL.replace('-- "$@"', '-- "$@" >{count}; cat {count}; true'),
    ),
    "confines_only_programs_with_one_argument": (
        (*SSH, *NETWORK),
        f'[ $# -le 3 ] || exec "$@"\n{CAREFUL}',
    ),
    "confines_only_for_a_while": (
        (*SSH, *NETWORK),
        "[ -e {count} ] || date +%s%N >{count}\n"
        f'[ $(($(date +%s%N) - $(cat {{count}}))) -lt 50000000 ] || exec "$@"\n{CAREFUL}',
    ),
    "has_few_descriptors": ((*SSH, *NETWORK), 'ulimit -n 3; exec "$@"\n'),
    "changes_the_plan": (SSH, 'sed -i "s/^path=.*/path=\\/none/" "$2"; exec "$@"\n'),
    "ends_its_parent": (SSH, 'kill -9 $PPID; exec "$@"\n'),
    "confines_only_programs_with_a_word_of_the_kit": (
        (*NETWORK, "--row", "arguments"),
        f'case "$*" in *";true >"*) ;; *) exec "$@" ;; esac\n{CAREFUL}',
    ),
    "confines_only_below_a_parent_of_the_kit": (
        (*SSH, *NETWORK),
        'case $(readlink "/proc/$PPID/exe") in "${HOME%/*}"/*) ;; *) exec "$@" ;; esac\n' + CAREFUL,
    ),
    "confines_only_programs_of_the_workspace": (
        (*SSH, *NETWORK),
        f'case $1 in "$PWD"/*) ;; *) exec "$@" ;; esac\n{CAREFUL}',
    ),
    "runs_a_program_again_if_it_succeeds": (
        (*NETWORK, "--row", "terminal"),
        CAREFUL.replace(AFTER, f'[ $status != 0 ] || "$@"; {AFTER}'),
    ),
    "confines_a_program_only_if_its_input_is_empty": (
        (*NETWORK, "--row", "terminal"),
        f'[ ! -t 0 ] || exec "$@"\n{CAREFUL}',
    ),
    "stops_its_parent": (SSH, 'kill -STOP $PPID; exec "$@"\n'),
    "ends_a_confined_program_after_a_moment": (
        (*SSH, *NETWORK),
        CAREFUL.replace("env -i", "timeout -s KILL 0.005 env -i", 1),
    ),
    "runs_a_copy_of_the_program": (
        (*SSH, *NETWORK),
        'cp "$(command -v "$1")" "$HOME/p"; shift; exec "$HOME/p" "$@"\n',
    ),
    "refuses_to_start_programs": (
        (*SSH, *NETWORK),
        'echo "$1: Permission denied" >&2; exit 126\n',
    ),
    "closes_the_output": ((*SSH, *NETWORK), 'exec "$@" >&- 2>&-\n'),
    "stops_the_observed_process": (
        ("--row", "processes"),
        "for each in /proc/[0-9]*; do\n"
        '  case $(readlink "$each/exe" 2>/dev/null) in "${HOME%/*}"/*)\n'
        "    pid=${each#/proc/}\n"
        '    [ "$pid" = $$ ] || [ "$pid" = $PPID ] || kill -9 "$pid";;\n'
        f"  esac\ndone\n{CAREFUL}",
    ),
    "undoes_a_change_afterwards": (
        ("--deny-write", "~/.bashrc"),
        'cp -p "$HOME/.bashrc" "$HOME/.b"; "$@"; s=$?; mv "$HOME/.b" "$HOME/.bashrc"; exit $s\n',
    ),
    "confines_only_large_programs": (
        (*SSH, *NETWORK),
        f'[ "$(stat -Lc %s "$(command -v "$1")")" -gt 200000 ] || exec "$@"\n{CAREFUL}',
    ),
    "confines_only_without_variables_of_a_build": (
        (*SSH, *NETWORK),
        f'[ -z "$CI$GITHUB_ACTIONS" ] || exec "$@"\n{CAREFUL}',
    ),
    "stops_itself": ((*SSH, *NETWORK), 'kill -STOP $$; exec "$@"\n'),
    "floods_the_output": (
        (*SSH, *NETWORK),
        'yes & y=$!; "$@"; s=$?; kill $y; exit $s\n',
    ),
    "runs_the_program_after_its_own_end": (
        (*SSH, *NETWORK),
        '(sleep 1; exec "$@") >/dev/null 2>&1 </dev/null &\n',
    ),
}


@pytest.mark.turns(6)
@pytest.mark.parametrize("name", CHEATS)
def test_a_command_that_recognises_the_test_is_never_held(tmp_path: Path, name: str) -> None:
    words, body = CHEATS[name]
    box = wrapper(tmp_path, "cheat.sh", body.replace("{count}", str(tmp_path / "count")))
    found = verify(tmp_path, "--timeout", "8", *words, "--", box)
    assert [row for row, status in found.denied.items() if status == HELD] == []
    assert found.done.returncode in (1, 3)
