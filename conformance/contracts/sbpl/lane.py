"""Compare the goldens with the real sandbox-exec on a Mac (`ci/macos-lane`)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from boxspec.errors import HarnessError
from contracts.sbpl import mac

AGREE, DIFFER, BROKEN, NOT_MEASURED = 0, 1, 2, 3


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        prog="ci/macos-lane",
        description="Runs the golden texts under sandbox-exec, in a directory made for it, and"
        " compares the accesses that it allows with the kit's evaluator and with the policy.",
        epilog="exit codes: 0 all agree; 1 something differs, each case on a line; 2 wrong use, or"
        " the comparison itself is broken; 3 not measured, because this system has no"
        " sandbox-exec. Needs Python 3.11 and nothing else.",
    )
    add = made.add_argument
    add(
        "--wrapper",
        type=Path,
        metavar="FILE",
        help="use this program instead of /usr/bin/sandbox-exec",
    )
    add(
        "--dir",
        type=Path,
        metavar="DIR",
        help="where to create the directory (default: the home directory)",
    )
    add("--goldens", type=Path, default=mac.SHAPES, metavar="DIR", help="default: fixtures/sbpl")
    return made.parse_args(words)


def measure(args: argparse.Namespace, wrapper: Path) -> int:
    shapes = list(mac.goldens(args.goldens))
    if not shapes:
        raise HarnessError(f"{args.goldens}: has no goldens")
    tried, wrong = 0, []
    for shape in shapes:
        if shape.is_movable:
            with mac.Home(args.dir) as home:
                count, found = mac.differences(shape.moved(str(home)), home, wrapper)
        else:
            count, found = 1, mac.loads(shape, wrapper)
        tried += count
        wrong += found
        print(f"{'differs' if found else 'agrees':8} {shape.name:32} {count:4} cases", flush=True)
        for line in found:
            print(f"  {line}", flush=True)
    print(f"measured: {len(shapes)} texts, {tried} cases, {len(wrong)} differ")
    return DIFFER if wrong else AGREE


def main(words: Sequence[str]) -> int:
    args = parse(words)
    why = mac.absent() if args.wrapper is None else None
    if why is not None:
        print(f"not measured: {why}")
        return NOT_MEASURED
    try:
        return measure(args, args.wrapper or mac.WRAPPER)
    except (HarnessError, OSError) as broken:
        print(f"ci/macos-lane: {broken}", file=sys.stderr)
        return BROKEN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
