#define _GNU_SOURCE
#include <errno.h>
#include <fts.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/internal.h"
#include "base/error.h"
#include "base/sys.h"

static bool cancelled(int cancel) {
    struct pollfd entry = {.fd = cancel, .events = POLLIN};
    return cancel >= 0 && BS_RETRY(poll(&entry, 1, 0)) == 1;
}

/* A workspace of more names than that is not looked through at every start of a session. */
enum { MOST_NAMES = 2 * 1000 * 1000, CANCEL_EVERY = 256 };

int bs_walk_tree(const struct bs_walk *walk, struct bs_error *err) {
    char *const roots[] = {(char *)(uintptr_t)walk->root, NULL};
    size_t root_len = strlen(walk->root);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int code = BS_OK;
    if (fts == NULL)
        return bs_fail(err, BS_E_EXECUTION, errno, "out of memory for `%.900s`", walk->root);
    FTSENT *entry = NULL;
    unsigned long names = 0;
    while (code == BS_OK && (entry = fts_read(fts)) != NULL) {
        const char *relative = entry->fts_path + root_len;
        while (*relative == '/')
            relative++;
        const struct bs_walked at = {entry->fts_path, relative, entry->fts_statp};
        if (++names > MOST_NAMES)
            code = bs_fail(err, BS_E_EXECUTION, 0,
                           "`%.900s` has more than %d names: too many for a policy to be mounted",
                           walk->root, MOST_NAMES);
        else if (names % CANCEL_EVERY == 0 && cancelled(walk->cancel))
            code = bs_fail(err, BS_E_EXECUTION, ECANCELED, "cancelled");
        else if (entry->fts_info == FTS_DP) {
            if (walk->leave != NULL)
                walk->leave(walk->ctx, &at);
        } else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR) {
            /* A directory that we may not look into has nothing that a program of ours may see. */
            if (walk->leave != NULL && entry->fts_info == FTS_DNR)
                walk->leave(walk->ctx, &at);
        } else if (entry->fts_info != FTS_NS) {
            switch (walk->enter(walk->ctx, &at)) {
            case BS_VISIT_ON:
                break;
            case BS_VISIT_SKIP:
                (void)fts_set(fts, entry, FTS_SKIP);
                break;
            case BS_VISIT_STOP:
                code =
                    bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for `%.900s`", walk->root);
                break;
            }
        }
    }
    (void)fts_close(fts);
    return code;
}
