"""Select the tests that a session runs: by contract, profile, requirement, topic or focus."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

from boxspec.judge.requirements import contract_of, load
from boxspec.judge.requires import Requires
from boxspec.judge.spec_versions import frozen
from boxspec.subject.contract import spoken


def requires_of(item: pytest.Item) -> Requires | None:
    """Return the `@requires` of a test; tests of the kit itself have no such mark."""
    mark = item.get_closest_marker("requires")
    return mark.args[0] if mark is not None else None


def is_of_other_topics(path: Path, config: pytest.Config) -> bool:
    """True if a test file has no test of the selected topics, so that it need not be imported."""
    known = load()
    only = config.getoption("boxspec_requirements") or ()
    topics = {known[name].topic for name in only if name in known}
    topics = topics or {*(config.getoption("boxspec_topic") or ())}
    contracts = {each.contract for each in known.values()}
    if not topics or path.suffix != ".py" or path.parent.name not in contracts:
        return False
    text = path.read_text(encoding="utf-8")
    return not any(topic in text for topic in topics)


def select_tests(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests by the options, and move overlapping tests to the end."""
    known = load()
    option = config.getoption
    contracts = option("boxspec_contracts")
    only = option("boxspec_requirements")
    topics = option("boxspec_topic")
    profile = option("boxspec_profile")
    spec = option("boxspec_spec")
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        marked = requires_of(item)
        if marked is None:
            kept.append(item)
            continue
        unknown = [name for name in marked.ids if name not in known]
        if unknown:
            raise pytest.UsageError(f"{item.nodeid}: unknown requirement {unknown[0]}")
        wanted = (not marked.inside or option("boxspec_backend") is not None) and any(
            (contracts is None or contract_of(name) in contracts)
            and (only is None or name in only)
            and (topics is None or known[name].topic in topics)
            and (profile in (None, "all") or known[name].profile == profile)
            and (spec is None or name in frozen(spec))
            for name in marked.ids
        )
        (kept if wanted else dropped).append(item)
    if option("boxspec_shard"):
        number, of = option("boxspec_shard")
        # The name decides the shard, so that a new test moves no other test to another shard.
        dropped += [item for item in kept if crc32(item.nodeid.encode()) % of != number - 1]
        kept = [item for item in kept if crc32(item.nodeid.encode()) % of == number - 1]
    if option("boxspec_focus"):
        kept, away = focused(kept, option("boxspec_focus"))
        dropped += away
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    # Overlapping bodies run in threads from the start, so the main thread reads their results last.
    items[:] = sorted(kept, key=_overlaps)


def focused(items: list[pytest.Item], topic: str) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Select tests for `--focus`: all tests of the topic, and a few of the other topics.

    The tests of other topics decide every requirement once, with as few tests as possible. Return
    the selected tests and the others.
    """
    known = load()
    kept: set[str] = set()
    decided: set[str] = set()
    for item in sorted(items, key=_cost):
        marked = requires_of(item)
        ids = set(marked.ids) if marked is not None else set()
        if any(known[name].topic == topic for name in ids) or ids - decided:
            kept.add(item.nodeid)
            decided |= ids
    return (
        [item for item in items if item.nodeid in kept],
        [item for item in items if item.nodeid not in kept],
    )


def _cost(item: pytest.Item) -> float:
    marked = requires_of(item)
    return marked.seconds + 10 * (marked.stress or 0) if marked is not None else 0


def _overlaps(item: pytest.Item) -> bool:
    marked = requires_of(item)
    return marked is not None and marked.overlap


def deselect_undeclared(session: pytest.Session, capabilities: frozenset[str]) -> None:
    """Deselect the tests of contracts that the shim does not declare, unless --contract was given.

    If the shim declares no contract, all tests stay, and each of them reports that it is not
    applicable.
    """
    declared = set(spoken(capabilities))
    if session.config.getoption("boxspec_contracts") is not None or not declared:
        return
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in session.items:
        marked = requires_of(item)
        away = marked is not None and contract_of(marked.ids[0]) not in declared
        (dropped if away else kept).append(item)
    if dropped:
        session.config.hook.pytest_deselected(items=dropped)
        session.items[:] = kept
