"""SBPL-FORM: the first lines and the grammar of every text.

Equal requests must always give equal texts.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from boxspec.api import NotApplicable, expect, requires, satisfies
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup
from contracts.shared.documents import policy

PLAIN = Setup(modify=["src/**"], env={"HOME": "/Users/u"})
BROAD = [
    *("file-read*", "process*", "signal", "ipc-posix*", "mach*", "system-fsctl"),
    *("system-socket", "network*", "sysctl*", "iokit*"),
]
# The operations that clauses name in every text.
NAMED = {
    leaf for name in (*BROAD, "file-write*", "system-mac-syscall") for leaf in sbpl.leaves(name)
}
OTHERS = [leaf for leaf in sbpl.leaves("default") if leaf not in NAMED]


@requires("SBPL-FORM-01")
def test_a_text_denies_operations_that_no_clause_allows(case: SbplCase) -> None:
    text = case.sbpl.compiled(PLAIN)
    begins = [str(form) for form in text.profile.forms[:2]]
    expect("the first two forms", begins, ["(version 1)", "(deny default)"], text.evidence())
    text.expect("decisions outside the root", sbpl.both(["src/x"], ["/usr/x", "/"]))


@requires("SBPL-FORM-02")
@pytest.mark.parametrize("name", BROAD)
def test_operations_other_than_writes_are_allowed_without_a_filter(
    case: SbplCase, name: str
) -> None:
    text = case.sbpl.compiled(PLAIN)
    path = "/usr/x" if name == "file-read*" else None
    expect(f"whether {name} is allowed", text.allows(name, path), True, text.evidence())
    expect(
        "whether all writes are allowed",
        text.allows("file-write*", "/usr/x"),
        False,
        text.evidence(),
    )


@requires("SBPL-FORM-03")
def test_of_the_kernel_policies_two_may_be_called(case: SbplCase) -> None:
    text = case.sbpl.compiled(PLAIN)
    calls = {
        (b"vnguard", 0): True,
        (b"vnguard", 67): True,
        (b"Sandbox", 67): True,
        (b"Sandbox", 66): False,
        (b"AMFI", 67): False,
    }
    expect(
        "the calls that are allowed",
        {call: text.allows_call(*call) for call in calls},
        calls,
        text.evidence(),
    )


SETUPS = {
    "nothing": Setup(),
    "subtrees": PLAIN,
    "globs": Setup(modify=["**", "!lib/*.c"], deny_modify=["**/*.env"], deny_read=["**/.env"]),
    "an exception": Setup(modify=["**"], deny_modify=["s/**", "!s/c/**"]),
    "reads": Setup(modify=["**"], read=["**", "!a", "a/b"], deny_read=["k/**"]),
    "codex": Setup(modify=["src/**"], side_roots=["/Users/u/side"], provider="codex"),
}


EVERYWHERE = [".", "src", "src/x", "lib/x.c", "s/c/x", "/", "/usr/x", "/dev/x", "/Users/u/side/x"]


@requires("SBPL-FORM-09")
@pytest.mark.parametrize("name", SETUPS)
def test_no_other_operation_is_allowed_on_any_path(case: SbplCase, name: str) -> None:
    text = case.sbpl.compiled(SETUPS[name])
    text.expect("decisions about writing", sbpl.both(["/dev/x"], ["/usr/x"]), sbpl.WRITES)
    on_paths = [each for each in OTHERS if sbpl.on_paths(each)]
    text.expect("operations other than writing", dict.fromkeys(EVERYWHERE, False), on_paths)
    allowed = [each for each in OTHERS if each not in on_paths and text.allows(each)]
    expect("allowed operations that no clause of the page names", allowed, [], text.evidence())


@requires("SBPL-FORM-04")
@pytest.mark.parametrize("name", SETUPS)
def test_each_line_of_a_text_is_a_clause(case: SbplCase, name: str) -> None:
    data = sbpl.bytes_of(case.sbpl.compile(SETUPS[name]))
    shown = {"text": data.decode("utf-8", "backslashreplace").splitlines()}
    expect("lines that match no clause of the page", sbpl.strange(data), [], shown)


@requires("SBPL-FORM-05")
def test_a_request_gives_the_same_bytes_again(case: SbplCase) -> None:
    home = {"HOME": "/Users/u", "CODEX_HOME": "/opt/codex", "CLAUDE_CONFIG_DIR": "/opt/claude"}
    setup = SETUPS["codex"].but(env=home, deny_read=["k/**"], deny_modify=["x", "y"])
    message = setup.message()
    first = sbpl.bytes_of(case.put(message))
    for _ in range(3):
        expect("the text of a repeated request", sbpl.bytes_of(case.put(message)), first)
    chance = random.Random(case.session.seed)
    for _ in range(3):
        shuffled = sbpl.shuffled(message, chance)
        expect(
            "the text of the request with its members in another order",
            sbpl.bytes_of(case.put(shuffled)),
            first,
        )
    for locale in ("C", "C.UTF-8", "tr_TR.UTF-8"):
        seen = case.send(message, shim_env={"LC_ALL": locale, "LANG": locale})
        expect(f"the text under `run`, in the locale {locale}", sbpl.bytes_of(seen), first)


ONE = Setup(modify=["Src/**"], deny_read=["K/**"], env={"HOME": "/Users/u"})
# Requests that each differ from the first one in one field.
OTHERWISE: dict[str, dict[str, Any]] = {
    "the first": {},
    "case": {"case": "fold"},
    "root": {"root": "/Users/v"},
    "modify": {"modify": ["Src/*"]},
    "deny_modify": {"deny_modify": ["K/**"]},
    "deny_read": {"deny_read": ["K/*"]},
    "env": {"env": {"HOME": "/Users/u", "CODEX_HOME": "/opt/c"}},
    "provider": {"provider": "codex"},
    "side_roots": {"provider": "codex", "side_roots": ["/opt/side"]},
}


@requires("SBPL-FORM-05")
def test_an_earlier_request_changes_no_text(case: SbplCase) -> None:
    fold = "sbpl.fold" in case.capabilities
    messages = [
        ONE.but(**OTHERWISE[name]).message() for name in OTHERWISE if fold or name != "case"
    ]
    alone = [sbpl.bytes_of(case.send(message)) for message in messages]
    for turn in (1, -1):
        served = [sbpl.bytes_of(case.put(message)) for message in messages[::turn]]
        same = [one == other for one, other in zip(served, alone[::turn], strict=True)]
        expect("whether `serve` and `run` give the same text", same, [True] * len(messages))


SPELLED = Setup(root="/Users/u/Ärger", modify=["é/**", "I?i"], deny_read=["ı/İ", "K*k/**"])


@requires("SBPL-FORM-05")
@pytest.mark.parametrize("letter_case", [None, "fold"])
@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "tr_TR.UTF-8", "tr_TR"])
def test_a_locale_changes_no_letter(case: SbplCase, letter_case: str | None, locale: str) -> None:
    if letter_case is not None and "sbpl.fold" not in case.capabilities:
        raise NotApplicable.without("sbpl.fold")
    message = SPELLED.but(case=letter_case).message()
    seen = case.send(message, shim_env={"LC_ALL": locale, "LANG": locale})
    served = sbpl.bytes_of(case.put(message))
    expect(f"the text under `run`, in the locale {locale}", sbpl.bytes_of(seen), served)


@requires("SBPL-FORM-06")
def test_both_readings_give_one_answer(case: SbplCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(sbpl.times(24)):
        given = sbpl.with_everything(chance)
        text = case.sbpl.compiled(given)
        for path in sbpl.paths(chance, given, 24):
            for name, decision in text.decisions((*sbpl.WRITES, *sbpl.READS), path).items():
                expect(
                    f"decision by both readings about {name} {path}",
                    decision.outcome.value,
                    satisfies("not ambiguous", lambda decision: decision != "ambiguous"),
                    {"clauses": sbpl.clauses(decision), **text.evidence()},
                )


WITHOUT_PATHS = ("network*", "sysctl*", "mach*", "ipc-posix*", "process-info*", "iokit*")


@requires("SBPL-FORM-06")
@pytest.mark.parametrize("name", WITHOUT_PATHS)
def test_both_readings_allow_operations_without_a_path(case: SbplCase, name: str) -> None:
    text = case.sbpl.compiled(PLAIN)
    shown = {
        operation: (decision.last.outcome.value, decision.specific.outcome.value)
        for operation, decision in text.decisions(sbpl.leaves(name)).items()
    }
    both = dict.fromkeys(shown, ("allow", "allow"))
    expect("decisions by the two readings", shown, both, text.evidence())


BAD_RULES = {
    "an absolute rule": ("modify", "/etc/**"),
    "a rule that leads out": ("modify", "../x"),
    "an absolute deny": ("deny_modify", "/etc/x"),
    "an exception to a read deny": ("deny_read", "!x"),
}


@requires("SBPL-FORM-07")
@pytest.mark.parametrize("name", BAD_RULES)
def test_an_invalid_rule_is_refused(case: SbplCase, name: str) -> None:
    field, rule = BAD_RULES[name]
    good = Setup(modify=["src/**"])
    kept = [*good.modify] if field == "modify" else []
    bad = good.but(**{field: [*kept, rule]})
    sbpl.refuses(case, name, bad, good.but(**{field: [*kept, "x"]}))


# Rules that are valid one by one, but not together, each with an allowed counterpart.
WRONG_TOGETHER = {
    "a modify rule that no read rule covers": (
        Setup(read=["a/**"], modify=["b/**"]),
        Setup(read=["a/**"], modify=["a/b/**"]),
    ),
    "a read rule that equals a deny": (
        Setup(read=["**", "a/**"], deny_read=["a/**"]),
        Setup(read=["**", "a/**"], deny_read=["a/b/**"]),
    ),
    "a modify rule that equals a deny": (
        Setup(modify=["a/**"], deny_modify=["./a/**"]),
        Setup(modify=["a/**"], deny_modify=["a/b/**"]),
    ),
    "a modify rule that equals a read deny": (
        Setup(modify=["a/**"], deny_read=["a/**"]),
        Setup(modify=["a/**"], deny_read=["a/b/**"]),
    ),
    "an exception without a deny": (
        Setup(modify=["**"], deny_modify=["a/**", "!b/c"]),
        Setup(modify=["**"], deny_modify=["a/**", "!a/c"]),
    ),
    "an exception before its deny": (
        Setup(modify=["**"], deny_modify=["!a/c", "a/**"]),
        Setup(modify=["**"], deny_modify=["a/**", "!a/c", "a/**"]),
    ),
    "an exception with wildcards": (
        Setup(modify=["**"], deny_modify=["a/**", "!a/*"]),
        Setup(modify=["**"], deny_modify=["a/**", "!a/b/**"]),
    ),
}


@requires("SBPL-FORM-07")
@pytest.mark.parametrize("name", WRONG_TOGETHER)
def test_rules_that_do_not_fit_together_are_refused(case: SbplCase, name: str) -> None:
    sbpl.refuses(case, name, *WRONG_TOGETHER[name])


@requires("SBPL-FORM-07", capability=("policy", "policy.json"))
def test_a_wrong_policy_and_an_unknown_profile_are_refused(case: SbplCase) -> None:
    root = "/Users/u/ws"
    good = case.ask("sbpl.compile", policy=PLAIN.policy, profile="p", root=root)
    expect("whether the profile `p` compiles", good.ok, True, {"answer": good.raw})
    unknown = case.ask("sbpl.compile", policy=PLAIN.policy, profile="nobody", root=root)
    sbpl.refused("an unknown profile", unknown, "nobody")
    wrong = policy({"denyRead": ["../x"]})
    sbpl.refused("a policy with a wrong rule", case.ask("sbpl.compile", policy=wrong, root=root))
    none = {"text": "{", "format": "json"}
    sbpl.refused("a file that is not a policy", case.ask("sbpl.compile", policy=none, root=root))


NEAR_PROFILES = ["P", "p ", " p", "p\t", "pp", "p.", "\u03c1", "Unrestricted", "UNRESTRICTED",
                 "unrestricted ", " unrestricted", "unrestricted\n"]  # fmt: skip


@requires("SBPL-FORM-07", capability=("policy", "policy.json"))
@pytest.mark.parametrize("name", NEAR_PROFILES, ids=ascii)
def test_a_name_like_the_name_of_a_profile_is_refused(case: SbplCase, name: str) -> None:
    given: dict[str, Any] = {"policy": PLAIN.policy, "root": "/Users/u/ws"}
    for known in ("p", "unrestricted"):
        good = case.ask("sbpl.compile", profile=known, **given)
        expect(f"whether the profile `{known}` compiles", good.ok, True, {"answer": good.raw})
    sbpl.refused(f"the profile {name!r}", case.ask("sbpl.compile", profile=name, **given))


@requires("SBPL-FORM-08", capability="policy.json")
@pytest.mark.parametrize("name", SETUPS)
def test_a_policy_file_gives_the_text_of_its_rules(case: SbplCase, name: str) -> None:
    setup = SETUPS[name]
    text = sbpl.bytes_of(case.sbpl.compile(setup))
    message = {**setup.message(), "policy": setup.policy, "profile": "p"}
    del message["rules"]
    expect("the text of the policy", sbpl.bytes_of(case.put(message)), text)


GLOBAL: dict[str, Any] = {"denyRead": ["k"], "denyModify": ["s/**", "!s/c/**"]}
MERGED = Setup(modify=["**"], deny_read=["k", "l"], deny_modify=["s/**", "!s/c/**", "s/c/d"])


@requires("SBPL-FORM-08", capability="policy.json")
@pytest.mark.parametrize("profile", ["p", "unrestricted", None])
def test_two_policy_files_give_the_text_of_their_rules(case: SbplCase, profile: str | None) -> None:
    """Compile two policy files, both with denies.

    One of them defines the profile. The profile `unrestricted` is in no file.
    """
    profiles = {"first": {"read": ["x"]}, "p": {"read": ["**"], "modify": ["**"]}}
    own: dict[str, Any] = {"fsProfiles": profiles}
    denies: dict[str, Any] = {"denyRead": ["l"], "denyModify": ["s/c/d"]}
    text = sbpl.bytes_of(case.sbpl.compile(MERGED))
    for above, below in ((own | GLOBAL, denies), (GLOBAL, own | denies)):
        message = {**MERGED.message(), "policy": policy(above, below), "profile": profile}
        del message["rules"]
        if profile is None:
            del message["profile"]
        expect(f"the text of {profile}", sbpl.bytes_of(case.put(message)), text)
