/* Runs another implementation through its shim as a co-process: JSON lines over two pipes.
 *
 *   1. Call bs_fuzz_shim_ask with some requests, as often as needed. The first call starts the shim
 *      that BOXSPEC_FUZZ_SHIM names, and so does a call after a failure.
 *   2. Call bs_fuzz_shim_stop.
 *
 * The shim leads its own process group. After a failure the whole group is killed, and the shim
 * also dies with the fuzzer. It has ten seconds to start and to answer a first hello. If it does
 * not, the fuzzer exits, because there is nothing to compare. The shim starts on first use and not
 * with the target, because AFL++ forks in between, and two processes would share the pipes. */
#ifndef BS_FUZZ_SHIM_PROCESS_H
#define BS_FUZZ_SHIM_PROCESS_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum bs_fuzz_trouble {
    BS_SHIM_WELL,
    BS_SHIM_DIED,  /* the shim's output ended before all requests were answered */
    BS_SHIM_HUNG,  /* an answer did not arrive in time */
    BS_SHIM_SHORT, /* fewer answers than requests, although the shim goes on answering */
    BS_SHIM_LONG   /* more answers than requests, or a line that is too long */
};

/* Return the name of the oracle for a kind of failure. */
const char *bs_fuzz_trouble_name(enum bs_fuzz_trouble trouble);

/* Limit for reading output. The rest of a longer line, or of extra output, is not read. */
#define BS_FUZZ_SHIM_MOST_LINE (16UL * 1024 * 1024)

struct bs_fuzz_lines {
    const char **lines; /* n lines in the buffer, without line feeds */
    size_t *lens;
    size_t n;
    struct bs_buf bytes;
};

void bs_fuzz_lines_clear(struct bs_fuzz_lines *lines);

/* Send `requests`, which has n lines, and read the answers. A hello is sent after them; its answer
 * shows at once whether an answer is missing or one too many arrived. *answers has all that
 * arrived; the caller clears it. The time limit, BOXSPEC_FUZZ_SHIM_TIMEOUT_MS or 2,000, starts
 * again with every answer. */
enum bs_fuzz_trouble bs_fuzz_shim_ask(const struct bs_buf *requests, size_t n,
                                      struct bs_fuzz_lines *answers);

/* Return the end of the stderr of the last shim that failed, at most 32 KiB. The text is borrowed
 * until the next failure. */
const char *bs_fuzz_shim_last_words(size_t *len);

/* Print that text for triage. Only printable characters are printed, and each line begins with
 * `boxspec-shim: `. */
void bs_fuzz_shim_show_last_words(FILE *to);

void bs_fuzz_shim_stop(void);

#endif
