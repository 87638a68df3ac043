"""Make the first inputs of the fuzz targets, as the contracts define them (`fuzz/seed`).

`fuzz/seed TARGET FOLDER` writes them to a folder. A corpus consists of these inputs and of inputs
that runs have found, except inputs that add no coverage. To make it, run `fuzz/seed TARGET seeds`,
then `TARGET found seeds`, then `TARGET -merge=1 fuzz/corpus/TARGET seeds found`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from boxspec.subject.contract import every

LONGEST = 8192
# The greatest length of an input that runs singly, without fuzzing. Examples are a hundred thousand
# levels of nesting, and a string of a megabyte.
LONGEST_ALONE = 1 << 20


def makers() -> dict[str, Callable[[], Iterable[bytes]]]:
    """Return for each target the function that yields its first inputs."""
    fuzzing = [contract.load_fuzzing() for contract in every() if contract.fuzzing]
    return {name: maker for each in fuzzing for name, maker in each.seeds.items()}


def write(inputs: Iterable[bytes], folder: Path, longest: int = LONGEST) -> int:
    """Write the inputs to files. The name of a file is a hash, so equal inputs are written once."""
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
