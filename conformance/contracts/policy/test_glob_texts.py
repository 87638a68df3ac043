"""POLICY-GLOB: texts in which a shell, a template or a URL would replace a part."""

from __future__ import annotations

from boxspec.api import expect, requires
from contracts.policy.api import policy, question
from contracts.policy.client import PolicyCase

TEXTS = [
    *("$HOME", "$HOME/x", "${HOME}", "${HOME}/x", "${PATH:-x}", "$(id)", "`id`", "$$", "$1"),
    *("%HOME%", "%PATH%/x", "%2e%2e/x", "%USERPROFILE%", "{{ x }}", "{x}", "#{x}", "&amp;", "@x"),
    *("~user/x", "~+", "x~", "#x", "x #y", "-x", "--", "x=y", "x;y", "x&y", "x|y", "<x>", "(x)"),
    *("'x'", '"x"', "x^y", "x,y", "ab:x", "http:x", "x\ty", "\u200bx", "\ufeffx", "\u00a0"),
]


@requires("POLICY-GLOB-01", capability="policy")
def test_no_part_of_a_text_is_replaced(case: PolicyCase) -> None:
    profiles = {str(at): {"read": [text, "other"]} for at, text in enumerate(TEXTS)}
    checks = [question("read", text, str(at)) for at, text in enumerate(TEXTS)]
    checks += [question("read", "x", str(at)) for at in range(len(TEXTS))]
    items = case.policy.check(policy({"fsProfiles": profiles}), checks)
    own, others = items[: len(TEXTS)], items[len(TEXTS) :]
    told = {
        text: (each.get("path"), each.get("allowed")) for text, each in zip(TEXTS, own, strict=True)
    }
    expect(
        "path of each text, and whether its own rule allows it",
        told,
        {each: (each, True) for each in TEXTS},
    )
    allowed = [text for text, each in zip(TEXTS, others, strict=True) if each.get("allowed")]
    expect("rules that allow `x`", allowed, [])
