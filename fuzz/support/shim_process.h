/* Another implementation behind its shim, as a co-process: JSON lines over two pipes.
 *
 *   1. bs_fuzz_shim_ask, with some requests, as often as wanted. The first starts the shim that
 *      BOXSPEC_FUZZ_SHIM names, and so does one that follows trouble.
 *   2. bs_fuzz_shim_stop.
 *
 * The shim leads a process group of its own, is killed with all of it when there was trouble, and
 * dies with the fuzzer. To start, and to answer a first hello, it has ten seconds; without that the
 * fuzzer gives up, since nothing is to be compared. It is started late, not when the target starts:
 * AFL++ forks in between, and two processes would share the pipes.
 */
#ifndef BS_FUZZ_SHIM_PROCESS_H
#define BS_FUZZ_SHIM_PROCESS_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum bs_fuzz_trouble {
    BS_SHIM_WELL,
    BS_SHIM_DIED,  /* the end of its output before all was answered */
    BS_SHIM_HUNG,  /* no answer in time */
    BS_SHIM_SHORT, /* fewer answers than requests, and it goes on answering */
    BS_SHIM_LONG   /* more answers than requests, or a line without an end */
};

/* The oracle's name of a trouble. */
const char *bs_fuzz_trouble_name(enum bs_fuzz_trouble trouble);

/* What a shim says more than it was asked, or in a longer line, is not read to its end. */
#define BS_FUZZ_SHIM_MOST_LINE (16UL * 1024 * 1024)

struct bs_fuzz_lines {
    const char **lines; /* n of them, each without its line feed, in the buffer */
    size_t *lens;
    size_t n;
    struct bs_buf bytes;
};

void bs_fuzz_lines_clear(struct bs_fuzz_lines *lines);

/* `requests` holds n lines. A hello is sent behind them: its answer shows at once that one is
 * missing, or one too many. Fills *answers with as many as came; the caller clears it. The time
 * that BOXSPEC_FUZZ_SHIM_TIMEOUT_MS says (2,000 unless it is set) runs
 * anew with every answer. */
enum bs_fuzz_trouble bs_fuzz_shim_ask(const struct bs_buf *requests, size_t n,
                                      struct bs_fuzz_lines *answers);

/* The end of what the shim wrote to stderr that there was trouble with last, 32 KiB at most;
 * borrowed until the next trouble. */
const char *bs_fuzz_shim_last_words(size_t *len);

/* The same for who sorts findings: each line behind `boxspec-shim: `, printable. */
void bs_fuzz_shim_show_last_words(FILE *to);

void bs_fuzz_shim_stop(void);

#endif
