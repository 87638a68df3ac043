#include "support/raw_case.h"

#include <string.h>

#include "support/fail.h"
#include "support/lie.h"
#include "support/memory.h"
#include "support/provider.h"

/* Limits for all memory of a load. A file of single digits has a node for every second byte, arenas
 * double their size, and tables and reports need memory as well. */
enum { BYTES_A_CALL = 48 * 1024, BYTES_A_BYTE = 256 };

/* Additional limit for a file with exceptions, which needs a matcher with tables. */
enum { BYTES_A_MATCHER = 4 * 1024 * 1024 };

static void check_memory(const char *text, size_t size) {
    size_t most = BYTES_A_CALL + BYTES_A_BYTE * size;
    if (bs_fuzz_may_except(text, size))
        most += BYTES_A_MATCHER;
    if (bs_fuzz_memory_taken() > most || bs_fuzz_lie("memory"))
        bs_fuzz_fail("memory", "%zu bytes, at most %zu", bs_fuzz_memory_taken(), most);
}

/* Load about one text in eight a second time, to find results that depend on earlier memory
 * contents. A second load costs as much as the first. The choice depends on the length and one
 * byte, because a hash of the whole text would cost time too. */
static void load_again(const struct bs_policy_text *text, const struct bs_fuzz_load *first) {
    struct bs_fuzz_load second;
    size_t chosen = text->len > 0 ? text->len + (unsigned char)text->data[text->len / 2] : 0;
    if (chosen % 8 != 0)
        return;
    bs_fuzz_load(text, NULL, &second);
    bs_fuzz_compare_loads(first, &second);
    bs_fuzz_load_clear(&second);
}

void bs_fuzz_judge_raw(const uint8_t *data, size_t size, enum bs_policy_format format) {
    static struct bs_fuzz_pool pool;
    struct bs_fuzz_load load;
    struct bs_fuzz_read read;
    struct bs_fuzz_verdict verdict;
    char *block = bs_fuzz_lend(data, size);
    struct bs_policy_text text = {block, size, format};
    bs_fuzz_memory_start();
    bs_fuzz_load(&text, NULL, &load);
    check_memory(block, size);
    ptrdiff_t held = bs_fuzz_memory_held();
    bs_fuzz_read_text(text, &pool, &read);
    (void)bs_fuzz_judge_load(&load, &read, NULL, &pool, &verdict);
    load_again(&text, &load);
    bs_fuzz_pool_clear(&pool);
    bs_fuzz_memory_start();
    bs_fuzz_load_clear(&load);
    held += bs_fuzz_memory_held();
    if (held != 0 || bs_fuzz_lie("leak"))
        bs_fuzz_fail("leak", "%td blocks are not given back", held);
    bs_fuzz_give_back(block, size);
}

void bs_fuzz_describe_raw(struct bs_fuzz_case *c, const uint8_t *data, size_t size,
                          enum bs_policy_format format) {
    bs_fuzz_case_open(c, "policy.load");
    bs_fuzz_case_text(c, "text", (const char *)data, size);
    bs_fuzz_case_word(c, "format", format == BS_POLICY_JSON ? "json" : "yaml");
    bs_fuzz_case_close(c);
}
