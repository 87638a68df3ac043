/* Protects named pipes under bubblewrap. On a read-only mount a program cannot change files and
 * directories, but it can still open a named pipe for writing, and a process outside may read from
 * the pipe. Landlock can refuse this, so bubblewrap's pid 1 adds a Landlock ruleset. The ruleset
 * grants writing only to the places that are writable anyway. */
#include "backend/mechanisms/pipes.h"

#include <stdlib.h>
#include <unistd.h>

#include "backend/mechanisms/landlock.h"
#include "backend/mechanisms/landlock_abi.h"
#include "backend/plan/entries.h"
#include "backend/plan/plan.h"
#include "backend/session/context.h"

/* True if Landlock has at least this ABI. Older versions cannot be used, because they always refuse
 * to move a file to another directory. */
bool bs_pipes_can_be_protected(void) { return bs_landlock_abi() >= BS_LL_ABI_REFER; }

/* Grant POSIX message queues. They are files of a separate file system, which is mounted here
 * because a Landlock grant needs a path. */
static void grant_queues(struct bs_buf *out) {
    static const char at[] = "/dev/mqueue";
    bs_plan_arg(out, "--mqueue");
    bs_plan_arg(out, at);
    bs_plan_grant(out, BS_LL_WRITE_FILE, at);
}

/* Grant the directories that belong to the sandbox. A read-only workspace below /dev would be
 * granted with it, so only the devices are granted then. */
static void grant_own(const struct bs_backend_context *context, const char *scratch,
                      struct bs_buf *out) {
    static const char *const devices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom", "/dev/tty",  "/dev/pts"};
    bs_plan_grant(out, BS_LL_WRITE_FILE, scratch);
    bs_plan_grant(out, BS_LL_WRITE_FILE, "/proc");
    if (context->confine != BS_CONFINE_READ_ONLY || !bs_is_below(context->root, "/dev")) {
        bs_plan_grant(out, BS_LL_WRITE_FILE, "/dev");
        return;
    }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        bs_plan_grant(out, BS_LL_WRITE_FILE, devices[i]);
}

bool bs_pipes_plan(const struct bs_backend_context *context, const char *scratch,
                   struct bs_buf *out) {
    char *cache = NULL;
    if (!bs_pipes_can_be_protected())
        return true;
    bs_plan_rights(out, BS_PLAN_FS, BS_LL_WRITE_FILE | BS_LL_REFER);
    bs_plan_grant(out, BS_LL_REFER, "/");
    grant_own(context, scratch, out);
    if (context->confine != BS_CONFINE_READ_ONLY)
        bs_plan_grant(out, BS_LL_WRITE_FILE, context->root);
    if (access("/proc/sys/fs/mqueue", F_OK) == 0)
        grant_queues(out);
    bool good = context->confine != BS_CONFINE_FULL_DEV || bs_context_cache(context->root, &cache);
    if (cache != NULL)
        bs_plan_grant(out, BS_LL_WRITE_FILE, cache);
    free(cache);
    return good;
}
