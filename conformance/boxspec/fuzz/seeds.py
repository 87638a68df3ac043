"""Make the first inputs of the fuzz targets, as the contracts define them: `fuzz/seed TARGET
FOLDER`.

A corpus consists of these inputs and of inputs that runs have found, without those that add no
coverage: fuzz/seed TARGET seeds; TARGET found seeds; TARGET -merge=1 fuzz/corpus/TARGET seeds
found.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from boxspec.subject.contract import every

LONGEST = 8192
# Limit for inputs that run singly, without fuzzing, such as a hundred thousand levels of nesting or
# a string of a megabyte.
LONGEST_ALONE = 1 << 20


def makers() -> dict[str, Callable[[], Iterable[bytes]]]:
    """Return for each target the function that yields its first inputs."""
    fuzzing = [contract.load_fuzzing() for contract in every() if contract.fuzzing]
    return {name: maker for each in fuzzing for name, maker in each.seeds.items()}


def write(inputs: Iterable[bytes], folder: Path, longest: int = LONGEST) -> int:
    """Write the inputs to files that are named by their hash, so that equal inputs are one file."""
    folder.mkdir(parents=True, exist_ok=True)
    names = set()
    for data in inputs:
        if len(data) <= longest:
            name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
            (folder / name).write_bytes(data)
            names.add(name)
    return len(names)


def main(words: list[str]) -> int:
    known = makers()
    if len(words) != 2 or words[0] not in known:
        print(f"usage: fuzz/seed {'|'.join(known)} FOLDER", file=sys.stderr)
        return 2
    print(f"{words[0]}: {write(known[words[0]](), Path(words[1]))} seeds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
