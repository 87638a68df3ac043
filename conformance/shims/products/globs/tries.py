"""Show the answers of a library of globs without the kit: tries.py ID... -- CALLER...

CALLER is a short program that calls a library in the way that the library's documentation shows.
Its last two arguments are a pattern and a path. It prints true or false, or the reason why it
refuses the pattern. This program uses no code of the kit. For each ID it prints a line with the
answers that violate the contract.
"""

import json
import resource
import signal
import subprocess
import sys

# Limit for one answer, in seconds of processor time. Other libraries answer within a millisecond.
# Waiting on a busy machine uses no processor time, so it causes no false failure.
LONG_S = 5
# A pattern, a path, and True if they match according to the contract.
CASES = {
    "POLICY-GLOB-01": [
        ("a[b]", "ab", False),
        ("{a,b}", "a", False),
        ("(a|b)", "a", False),
        ("a[", "a[", True),
        ("#a", "#a", True),
    ],
    "POLICY-GLOB-02": [("src", "a/src", False), ("src", "src/a", False), ("a", "a\n", False)],
    "POLICY-GLOB-05": [
        ("a?c", "a\u00e9c", True),
        ("?", "\U0001f600", True),
        ("??", "\U0001f600", False),
    ],
    "POLICY-GLOB-06": [("**/b", "a/b", True), ("**/b", "a\nc/b", True)],
    "POLICY-GLOB-07": [
        ("a/**", "a", True),
        ("a/**", "a/b", True),
        ("a/**/**", "a", True),
        ("a/*/**", "a/b", True),
        ("a/**", "a/b\nc", True),
    ],
    "POLICY-GLOB-08": [("a**b", "a/b", True), ("a**", "a/b", True), ("**b", "a/b", True)],
    "POLICY-GLOB-09": [("a***b", "a/b", True), ("***/b", "a/c/b", True)],
    "POLICY-GLOB-10": [
        ("**", ".", True),
        ("./**", ".", True),
        ("*", ".", False),
        ("?", ".", False),
        (".*", ".", False),
    ],
    "POLICY-COST-01": [
        ("a*a*a*a*a*a*a*a*a*a*b", "a" * 500, False),
        ("**/a/" * 10 + "b", "a/" * 250 + "1", False),
    ],
}


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (LONG_S, 2 * LONG_S))


def asked(caller, pattern, path):
    done = subprocess.run([*caller, pattern, path], capture_output=True, preexec_fn=bounded)
    if done.returncode == -signal.SIGXCPU:
        return f"no answer in {LONG_S} s"
    said = (done.stdout or done.stderr).decode("utf-8", "replace").strip()
    return {"true": True, "false": False}.get(said, said[-200:])


def line_of(name, caller):
    if name not in CASES:
        return f"{name} not tried: nothing here tries it"
    told = []
    for pattern, path, wanted in CASES[name]:
        got = asked(caller, pattern, path)
        if got != wanted:
            shown = path if len(path) < 40 else f"{path[:10]}... of {len(path)}"
            told.append(f"{json.dumps(pattern)} of {json.dumps(shown)}: {json.dumps(got)}")
    return f"{name} {'seen' if told else 'not seen'}: {'; '.join(told)}"


def main(words):
    middle = words.index("--")
    for name in words[:middle] or CASES:
        print(line_of(name, words[middle + 1 :]), flush=True)


main(sys.argv[1:])
