/* Globs of a small alphabet, compared with an independent matcher. Half of the paths derive from
 * the glob. */
#include "support/glob_case.h"
#include "support/glob_gen.h"

const char bs_fuzz_target[] = "glob_diff";

static void texts_of(const struct bs_gen_globs *globs, struct bs_fuzz_text *glob,
                     struct bs_fuzz_text *paths) {
    *glob = (struct bs_fuzz_text){globs->glob.data, globs->glob.len};
    for (size_t i = 0; i < globs->n_paths; i++)
        paths[i] = (struct bs_fuzz_text){globs->paths[i].data, globs->paths[i].len};
}

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct bs_gen_globs globs;
    struct bs_fuzz_text glob;
    struct bs_fuzz_text paths[BS_GEN_MOST_PATHS];
    bs_gen_globs(data, size, &globs);
    texts_of(&globs, &glob, paths);
    bs_fuzz_describe_glob(c, glob, paths, globs.n_paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_gen_globs globs;
    struct bs_fuzz_text glob;
    struct bs_fuzz_text paths[BS_GEN_MOST_PATHS];
    bs_fuzz_begin(data, size);
    bs_gen_globs(data, size, &globs);
    texts_of(&globs, &glob, paths);
    bs_fuzz_judge_glob(glob, paths, globs.n_paths);
    return 0;
}
