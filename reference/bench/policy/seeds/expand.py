#!/usr/bin/env python3
"""Make the rule lists, path lists and policies of the bench, the same bytes everywhere.

    expand.py FOLDER          writes every expansion there and checks it against expansions.sha256
    expand.py --seal          writes the small lists of this folder, and expansions.sha256

Every list is a prefix of the longer ones of its family. The result does not depend on the Python
release, because this script has its own random number generator (SplitMix64).
"""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUMS = HERE / "expansions.sha256"
FAMILIES = ("literal", "subtree", "anywhere", "extension", "two", "mixed", "policies")
KEPT = (1, 20, 100, 1_000)  # lengths of the lists that are in the repository
MANY_RULES = 10_000
FEW_PATHS = 1_000
MANY_PATHS = 100_000
POLICIES = (1_000, 10_000)
HOSTILE = ("crossing", "counting", "stars", "anywhere-stars")


class Numbers:
    """The random number generator SplitMix64, seeded by a name."""

    def __init__(self, name: str) -> None:
        self._state = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return (self._next() * n) >> 64

    def percent(self, chance: int) -> bool:
        return self.below(100) < chance

    def often_early(self, words: list[str]) -> str:
        """Choose a word. A tenth of the words, the first ones, get a third of all choices."""
        r = self._next() >> 32
        return words[(len(words) * r * r) >> 64]


def _words(name: str) -> list[str]:
    return (HERE / name).read_text(encoding="utf-8").split()


FOLDERS, STEMS, EXTENSIONS = (_words(f"{n}.txt") for n in ("folders", "stems", "extensions"))


def _folder(r: Numbers) -> str:
    kind = r.below(100)
    if kind < 65:
        return r.often_early(FOLDERS)
    if kind < 90:
        return f"{r.often_early(STEMS)}-{r.often_early(FOLDERS)}"
    return f"{r.often_early(STEMS)}{r.below(40)}"


def _folders(r: Numbers, least: int, most: int) -> str:
    return "/".join(_folder(r) for _ in range(least + r.below(most - least + 1)))


def _stem(r: Numbers) -> str:
    kind = r.below(100)
    if kind < 50:
        return r.often_early(STEMS)
    if kind < 90:
        return f"{r.often_early(STEMS)}{'_-.'[r.below(3)]}{r.often_early(STEMS)}"
    return f"{r.often_early(STEMS)}_{r.below(1000)}"


def _extension(r: Numbers) -> str:
    kind = r.below(100)
    if kind < 60:
        return r.often_early(EXTENSIONS)
    if kind < 90:
        return f"{r.often_early(STEMS)}.{r.often_early(EXTENSIONS)}"
    return f"{r.often_early(EXTENSIONS)}.{r.below(1000)}"


def _file(r: Numbers) -> str:
    if r.percent(6):
        return r.often_early(STEMS)
    return f"{_stem(r)}.{r.often_early(EXTENSIONS)}"


def _two(r: Numbers) -> str:
    shapes: list[Callable[[], str]] = [
        lambda: f"{_folders(r, 1, 2)}/*/{_stem(r)}*.{r.often_early(EXTENSIONS)}",
        lambda: f"{_folders(r, 1, 2)}/*/{_folder(r)}/*.{r.often_early(EXTENSIONS)}",
        lambda: f"**/{_stem(r)}_*.{r.often_early(EXTENSIONS)}",
        lambda: f"**/{_folder(r)}/*.{_extension(r)}",
        lambda: f"{_folders(r, 1, 2)}/**/{_folder(r)}/**",
        lambda: f"**/*-{_stem(r)}.{_extension(r)}",
        lambda: f"{_folders(r, 1, 3)}/*{_stem(r)}*",
        lambda: f"{_folders(r, 1, 2)}/{_stem(r)}?.*",
    ]
    return shapes[r.below(len(shapes))]()


def _mixed(r: Numbers) -> str:
    kind = r.below(100)
    if kind < 25:
        return _MAKERS["literal"](r)
    if kind < 55:
        return _MAKERS["subtree"](r)
    if kind < 70:
        return _MAKERS["anywhere"](r)
    if kind < 80:
        return _MAKERS["extension"](r)
    return _two(r)


def _as_in_policies(r: Numbers) -> str:
    """Return a rule.

    The kinds of rules are as frequent as in fixtures/policies, but no rule matches every path.
    """
    kind = r.below(100)
    if kind < 38:
        return _MAKERS["subtree"](r)
    if kind < 58:
        return _MAKERS["extension"](r)
    if kind < 72:
        return f"**/{_file(r)}"
    if kind < 80:
        return _MAKERS["anywhere"](r)
    if kind < 86:
        return _MAKERS["literal"](r)
    if kind < 90:
        return f"{_folders(r, 1, 2)}/*.{_extension(r)}"
    if kind < 94:
        return f"**/{_stem(r)}*.{_extension(r)}"
    return f"**/{_folder(r)}/{_folder(r)}/**" if kind < 97 else f"**/{_stem(r)}.*"


_MAKERS: dict[str, Callable[[Numbers], str]] = {
    "literal": lambda r: f"{_folders(r, 1, 5)}/{_file(r)}",
    "subtree": lambda r: f"{_folders(r, 1, 4)}/**",
    "anywhere": lambda r: f"**/{_folder(r)}/**",
    "extension": lambda r: f"**/*.{_extension(r)}",
    "two": _two,
    "mixed": _mixed,
    "policies": _as_in_policies,
}


def _distinct(make: Callable[[], str], n: int) -> list[str]:
    seen: dict[str, None] = {}
    while len(seen) < n:
        seen.setdefault(make())
    return list(seen)


def rules(family: str, n: int) -> list[str]:
    r = Numbers(f"rules {family}")
    return _distinct(lambda: _MAKERS[family](r), n)


def _hit(r: Numbers, rule: str) -> str:
    """Return a path that the rule matches."""
    segments: list[str] = []
    parts = rule.split("/")
    for i, part in enumerate(parts):
        if part != "**":
            text = "".join(r.often_early(STEMS) if c == "*" else c for c in part)
            segments.append("".join("abcdefghé"[r.below(9)] if c == "?" else c for c in text))
        elif i < len(parts) - 1:
            segments += [_folder(r) for _ in range(r.below(4))]
        elif r.percent(90):
            segments += [_folder(r) for _ in range(r.below(4))] + [_file(r)]
    return "/".join(segments)


def _raw(r: Numbers, path: str) -> str:
    """Return the path as a caller could write it: sometimes not in normal form, as with most
    callers.
    """
    kind = r.below(100)
    if kind < 5:
        return f"./{path}"
    if kind < 8:
        return path.replace("/", "//", 1)
    if kind < 10:
        return path.replace("/", "/./", 1)
    if kind < 12:
        return f"{path}/"
    return path


def paths(family: str, n: int) -> list[str]:
    """Return n paths: a quarter match one of the first 20 rules, a quarter one of 10,000 rules, and
    half of them match none."""
    r = Numbers(f"paths {family}")
    known = rules(family, MANY_RULES)

    def one() -> str:
        kind = r.below(4)
        if kind == 0:
            return _raw(r, _hit(r, known[r.below(20)]))
        if kind == 1:
            return _raw(r, _hit(r, known[r.below(MANY_RULES)]))
        return _raw(r, f"{_folders(r, 0, 6)}/{_file(r)}".lstrip("/"))

    return _distinct(one, n)


def hostile(kind: str) -> list[str]:
    """Return rules for which a table gets huge, because the number of states multiplies."""
    r = Numbers(f"hostile {kind}")

    def letters(n: int) -> list[str]:
        return [chr(ord("a") + r.below(26)) for _ in range(n)]

    makers: dict[str, tuple[int, Callable[[], str]]] = {
        "crossing": (1_000, lambda: f"*{'*'.join(letters(3))}*"),
        "counting": (1_000, lambda: f"*{letters(1)[0]}{'?' * (1 + r.below(60))}"),
        "stars": (200, lambda: f"*{'*'.join(letters(64))}"),
        "anywhere-stars": (10_000, lambda: f"**/*{'*'.join(letters(3))}*/**"),
    }
    n, make = makers[kind]
    return _distinct(make, n)


def policy(n: int) -> tuple[str, str]:
    """Return one policy in JSON as `json.dumps(indent=2)` writes it, and in YAML as people write
    it.
    """
    body = rules("mixed", n)
    quarter = n // 4
    deny_read, deny_modify = body[:quarter], body[quarter : 2 * quarter]
    read = body[2 * quarter : 3 * quarter]
    modify = [f"!{rule}" for rule in body[3 * quarter :]]
    document = {
        "schemaVersion": 2,
        "kind": "Policy",
        "metadata": {"name": f"bench-{n}"},
        "spec": {
            "description": f"{n} rules",
            "denyRead": deny_read,
            "denyModify": deny_modify,
            "fsProfiles": {"agent": {"read": ["./**", *read], "modify": ["./**", *modify]}},
        },
    }

    def items(indent: int, values: list[str]) -> str:
        return "".join(f'{" " * indent}- "{value}"\n' for value in values)

    yaml = (
        f"schemaVersion: 2\nkind: Policy\nmetadata:\n  name: bench-{n}\nspec:\n"
        f"  description: {n} rules\n"
        f"  denyRead:\n{items(4, deny_read)}  denyModify:\n{items(4, deny_modify)}"
        f"  fsProfiles:\n    agent:\n      read:\n{items(8, ['./**', *read])}"
        f"      modify:\n{items(8, ['./**', *modify])}"
    )
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n", yaml


def expansions() -> dict[str, bytes]:
    """Return every file that the bench reads, by name."""
    made: dict[str, str] = {}

    def lines(values: list[str]) -> str:
        return "".join(f"{value}\n" for value in values)

    for family in FAMILIES:
        known = rules(family, MANY_RULES)
        for n in (*KEPT, MANY_RULES):
            made[f"rules-{family}-{n}.txt"] = lines(known[:n])
        asked = paths(family, MANY_PATHS if family == "mixed" else FEW_PATHS)
        made[f"paths-{family}-{FEW_PATHS}.txt"] = lines(asked[:FEW_PATHS])
        if len(asked) > FEW_PATHS:
            made[f"paths-{family}-{len(asked)}.txt"] = lines(asked)
    for kind in HOSTILE:
        made[f"hostile-{kind}.txt"] = lines(hostile(kind))
    for n in POLICIES:
        made[f"policy-{n}.json"], made[f"policy-{n}.yaml"] = policy(n)
    return {name: text.encode() for name, text in made.items()}


def is_kept(name: str) -> bool:
    stem, _, rest = name.rpartition("-")
    return not stem.startswith("policy") and rest.removesuffix(".txt") in {str(n) for n in KEPT}


def _sums(made: dict[str, bytes]) -> str:
    return "".join(f"{hashlib.sha256(made[name]).hexdigest()}  {name}\n" for name in sorted(made))


def expand(folder: Path) -> None:
    """Write the expansions; raise ValueError if one differs from its committed hash."""
    made = expansions()
    if _sums(made) != SUMS.read_text(encoding="utf-8"):
        raise ValueError(f"the expansions are not those of {SUMS.name}")
    for name in filter(is_kept, made):
        if (HERE / name).read_bytes() != made[name]:
            raise ValueError(f"seeds/{name} was changed by hand")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (folder / name).write_bytes(content)


def seal() -> None:
    made = expansions()
    for name in filter(is_kept, made):
        (HERE / name).write_bytes(made[name])
    SUMS.write_text(_sums(made), encoding="utf-8")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--seal":
        seal()
        return 0
    try:
        expand(Path(sys.argv[1]))
    except (OSError, ValueError) as error:
        print(f"expand.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
