/* Another implementation, run through its shim as a co-process: JSON lines over two pipes.
 *
 *   1. bs_fuzz_shim_ask with some requests, as often as needed. The first call starts the shim
 *      named by BOXSPEC_FUZZ_SHIM, and so does a call after a failure.
 *   2. bs_fuzz_shim_stop.
 *
 * The shim leads its own process group; after a failure the whole group is killed, and the shim
 * dies with the fuzzer. It has ten seconds to start and answer a first hello; if it does not, the
 * fuzzer exits, because there is nothing to compare. The shim starts on first use and not with the
 * target: AFL++ forks in between, and two processes would share the pipes.
 */
#ifndef BS_FUZZ_SHIM_PROCESS_H
#define BS_FUZZ_SHIM_PROCESS_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum bs_fuzz_trouble {
    BS_SHIM_WELL,
    BS_SHIM_DIED,  /* its output ended before all requests were answered */
    BS_SHIM_HUNG,  /* an answer did not come in time */
    BS_SHIM_SHORT, /* fewer answers than requests, although it goes on answering */
    BS_SHIM_LONG   /* more answers than requests, or a line that is too long */
};

/* The oracle's name for a kind of failure. */
const char *bs_fuzz_trouble_name(enum bs_fuzz_trouble trouble);

/* Output is read up to this limit; the rest of a longer line or of extra output is not read. */
#define BS_FUZZ_SHIM_MOST_LINE (16UL * 1024 * 1024)

struct bs_fuzz_lines {
    const char **lines; /* n lines in the buffer, without line feeds */
    size_t *lens;
    size_t n;
    struct bs_buf bytes;
};

void bs_fuzz_lines_clear(struct bs_fuzz_lines *lines);

/* `requests` holds n lines. A hello is sent after them; its answer shows at once if an answer is
 * missing or one too many came. Fills *answers with all that came; the caller clears it. The time
 * limit, BOXSPEC_FUZZ_SHIM_TIMEOUT_MS or 2,000, starts again with every answer. */
enum bs_fuzz_trouble bs_fuzz_shim_ask(const struct bs_buf *requests, size_t n,
                                      struct bs_fuzz_lines *answers);

/* The end of the last failed shim's stderr, at most 32 KiB; borrowed until the next failure. */
const char *bs_fuzz_shim_last_words(size_t *len);

/* Print that text for triage: printable characters, each line prefixed with `boxspec-shim: `. */
void bs_fuzz_shim_show_last_words(FILE *to);

void bs_fuzz_shim_stop(void);

#endif
