/* One output stream of the child: read to the end whatever happens, kept up to a cap or handed on.
 */
#ifndef BS_EXEC_DRAIN_H
#define BS_EXEC_DRAIN_H

#include <boxspec/exec.h>

#include "base/buf.h"

struct bs_drain {
    int fd; /* -1 once it has ended */
    enum bs_stream stream;
    uint64_t most;  /* bytes to keep or hand on */
    uint64_t taken; /* bytes kept or handed on */
    struct bs_buf kept;
    bool over;  /* a byte beyond `most` came and was dropped */
    bool grown; /* the pipe was enlarged */
};

/* Where bytes go beside `kept`; both may be NULL. */
struct bs_outlets {
    const struct bs_exec_request *request;
    struct bs_tee *tee;
};

/* Takes fd over. */
void bs_drain_init(struct bs_drain *drain, int fd, enum bs_stream stream, uint64_t most);

/* Reads what one call gives. At the end of the stream fd is closed. 0 or an errno, ENOMEM among
 * them: nothing can be read any more then, and fd is closed too. */
int bs_drain_read(struct bs_drain *drain, const struct bs_outlets *outlets);

/* Reads what is there now, but no more than the largest pipe holds: a flood has no end. As above.
 */
int bs_drain_rest(struct bs_drain *drain, const struct bs_outlets *outlets);

/* Drops an incomplete character at the end of a stream that was cut. */
void bs_drain_finish(struct bs_drain *drain);

void bs_drain_clear(struct bs_drain *drain);

#endif
