#!/bin/bash -eu
# Build every fuzz target for a service that sets compiler, flags and engine in the environment: CC,
# CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, OUT, SRC. Write $OUT/TARGET with its seed corpus,
# dictionary and options. A self-test sets the same variables.

root=$SRC/boxspec
work=${WORK:-$OUT/../work}/boxspec

# The engine is C++, so the C++ compiler links. CMake reads flags and compiler from the environment.
cmake -S "$root" -B "$work" -G Ninja \
    -DCMAKE_BUILD_TYPE=None -DBOXSPEC_TESTS=OFF -DBOXSPEC_FUZZ_ENGINE=libfuzzer \
    -DBOXSPEC_FUZZ_LINK="$LIB_FUZZING_ENGINE" \
    -DCMAKE_C_LINK_EXECUTABLE="$CXX $CXXFLAGS <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>" \
    -DCMAKE_BUILD_RPATH='$ORIGIN/lib'
cmake --build "$work" --target fuzz

# The image that runs the targets does not have these libraries.
mkdir -p "$OUT/lib"

for source in "$root"/fuzz/targets/*.c; do
    target=$(basename -- "$source" .c)
    # This target needs a shim to compare with, and a service has no shim.
    [[ $target == shim_diff ]] && continue
    install -m 755 "$work/fuzz/$target" "$OUT/$target"
    ldd "$work/fuzz/$target" | sed -n 's/.*=> \(\/[^ ]*lib\(cjson\|md\|yaml\|utf8proc\)[-.0-9]*\.so[^ ]*\) .*/\1/p' |
        xargs -r -I{} cp -L {} "$OUT/lib/"

    folders=()
    for folder in corpus regressions; do
        [[ -d $root/fuzz/$folder/$target ]] && folders+=("$root/fuzz/$folder/$target")
    done
    if ((${#folders[@]})); then
        rm -f "$OUT/${target}_seed_corpus.zip"
        zip -q -r -j "$OUT/${target}_seed_corpus.zip" "${folders[@]}"
    fi

    # Corpora, dictionaries and limits come from fuzz/targets.json, as everywhere.
    python3 - "$root/fuzz" "$target" "$OUT" <<'PYTHON'
import json, pathlib, shutil, sys

fuzz, name, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
entry = json.loads((fuzz / "targets.json").read_text())[name]
options = [f"max_len = {entry['max_len']}", "timeout = 10", "rss_limit_mb = 2048"]
if entry["dictionary"]:
    shutil.copyfile(fuzz / "dictionaries" / entry["dictionary"], out / f"{name}.dict")
    options.append(f"dict = {name}.dict")
(out / f"{name}.options").write_text("\n".join(["[libfuzzer]", *options, ""]))
PYTHON
done
