/* Arbitrary bytes as a glob and a path: encodings, NULs, lengths. A byte 255, which no valid text
 * contains, separates the two. Without such a byte the only path is the root. */
#include <string.h>

#include "support/glob_case.h"

const char bs_fuzz_target[] = "glob_raw";

static void split(const uint8_t *data, size_t size, struct bs_fuzz_text *glob,
                  struct bs_fuzz_text *path) {
    const char *bytes = (const char *)data;
    const char *between = size > 0 ? memchr(bytes, 0xFF, size) : NULL;
    *glob = (struct bs_fuzz_text){bytes, size};
    *path = (struct bs_fuzz_text){".", 1};
    if (between != NULL) {
        glob->len = (size_t)(between - bytes);
        *path = (struct bs_fuzz_text){between + 1, size - glob->len - 1};
    }
}

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct bs_fuzz_text glob;
    struct bs_fuzz_text path;
    split(data, size, &glob, &path);
    bs_fuzz_describe_glob(c, glob, &path, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bs_fuzz_text glob;
    struct bs_fuzz_text path;
    bs_fuzz_begin(data, size);
    split(data, size, &glob, &path);
    bs_fuzz_judge_glob(glob, &path, 1);
    return 0;
}
