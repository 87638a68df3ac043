#define _GNU_SOURCE
#include "backend/mechanisms/bubblewrap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/mechanisms/pipes.h"
#include "backend/mechanisms/proc_sealing.h"
#include "backend/plan/entries.h"
#include "backend/plan/mounts.h"
#include "backend/plan/plan.h"
#include "backend/session/context.h"
#include "base/error.h"
#include "base/sys.h"

/* True if the directory can be replaced by a private one. It must not lie in the workspace, because
 * the mount of the workspace would cover it. A read-only workspace must not lie in the directory:
 * the Landlock ruleset for named pipes grants writing to all that lies there. */
static bool can_be_private(const char *dir, const struct bs_backend_context *context) {
    const char *root = context->root;
    if (root == NULL)
        return true;
    return !bs_is_below(dir, root) &&
           !(context->confine == BS_CONFINE_READ_ONLY && bs_is_below(root, dir));
}

char *bs_bubblewrap_scratch(const struct bs_backend_context *context) {
    static const char *const places[] = {"/tmp", "/var/tmp"};
    char *real = NULL;
    for (size_t i = 0; i < 2 && real == NULL; i++) {
        real = realpath(places[i], NULL);
        if (real != NULL && !can_be_private(real, context)) {
            free(real);
            real = NULL;
        }
    }
    return real != NULL ? real : strdup(places[0]);
}

static void bind(struct bs_buf *out, const char *option, const char *path) {
    bs_plan_arg(out, option);
    bs_plan_arg(out, path);
    bs_plan_arg(out, path);
}

/* If the root lies below the cache, mount each directory between the two on itself. Otherwise a
 * program could rename one of these directories, and the root with it. */
static bool bind_between(struct bs_buf *out, const char *cache, const char *root) {
    if (!bs_is_below(root, cache) || strcmp(root, cache) == 0)
        return true;
    char *path = strdup(root);
    if (path == NULL)
        return false;
    for (char *slash = strchr(path + strlen(cache) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bind(out, "--bind", path);
        *slash = '/';
    }
    free(path);
    return true;
}

static bool bind_cache(struct bs_buf *out, const char *root) {
    char *cache = NULL;
    bool good = bs_context_cache(root, &cache);
    if (cache != NULL) {
        bs_plan_add(out, BS_PLAN_CHECKED, cache);
        bind(out, "--bind", cache);
        good = bind_between(out, cache, root);
    }
    free(cache);
    return good;
}

/* True if `path` lies in a directory that is replaced by a private one in the sandbox. */
static bool is_hidden_by_private(const char *path, const char *scratch) {
    const char *const own[] = {scratch, "/dev"};
    for (size_t i = 0; i < 2; i++) {
        if (bs_is_below(path, own[i]) && strcmp(path, own[i]) != 0)
            return true;
    }
    return false;
}

/* Mount the readable paths that lie in a private directory, because the private directory hides
 * them. A missing path is not an error here: the program will report it. */
static void bind_readable(struct bs_buf *out, const struct bs_backend_context *context,
                          const char *scratch) {
    for (size_t i = 0; i < context->n_readable; i++) {
        const char *path = context->readable[i];
        if (is_hidden_by_private(path, scratch) && access(path, F_OK) == 0)
            bind(out, "--ro-bind", path);
    }
}

/* True if a readable path lies in the scratch directory or in /dev, or a read-only workspace in the
 * scratch directory. The Landlock ruleset for named pipes grants writing there, and so also to the
 * named pipes in such a path. */
static bool reads_below_scratch(const struct bs_backend_context *context) {
    char *scratch = bs_bubblewrap_scratch(context);
    bool reads = scratch == NULL;
    if (scratch != NULL && context->root != NULL && context->confine == BS_CONFINE_READ_ONLY)
        reads = bs_is_below(context->root, scratch);
    for (size_t i = 0; scratch != NULL && i < context->n_readable; i++)
        reads = reads || is_hidden_by_private(context->readable[i], scratch);
    free(scratch);
    return reads;
}

/* Make the files of the system in /proc read-only for root. Root without capabilities still owns
 * some of them: those in /proc/sys and those of drivers. Pid 1 seals these entries before it drops
 * its capabilities. bubblewrap could seal them too, but it would read the list of all mounts, which
 * takes longer than the whole launcher. The entries that need no sealing are looked up here, in the
 * procfs of the host, because an access to a file in a new procfs costs as much as a mount. An
 * entry that appears later is sealed. */
static void seal_system(struct bs_buf *out) {
    bs_buf_str(out, BS_PLAN_SEAL "=/proc:");
    bs_proc_sealing_exceptions("/proc", out);
    bs_buf_char(out, '\0');
    /* The last one lets pid 1 check the mounts in directories of other users. */
    static const char *const needed[] = {"CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_DAC_OVERRIDE"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        bs_plan_arg(out, "--cap-add");
        bs_plan_arg(out, needed[i]);
    }
}

static int try_own_mounts(void *ctx) {
    (void)ctx;
    _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
}

/* True if the namespace can be kept from getting later mounts of the host. Pid 1 does this for
 * root. Any other user needs a user namespace around bubblewrap, so this function tries to make
 * one. */
static bool can_keep_mounts(void) {
    if (geteuid() == 0)
        return true;
    int status = 0;
    _Alignas(16) char stack[16 * 1024];
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    /* Block all signals: the child shares the caller's memory, so no signal handler may run in
     * it. */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t pid = clone(try_own_mounts, stack + sizeof stack, CLONE_VM | CLONE_VFORK, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid > 0 && BS_RETRY(waitpid(pid, &status, __WALL)) == pid && status == 0;
}

/* Write the command of bubblewrap. bubblewrap's own pid 1 is replaced by the launcher, because the
 * launcher stays in the process group that the caller signals, puts the program into a new session,
 * and gives it a grace period. --die-with-parent ends bubblewrap when the launcher outside ends;
 * the option works because the launcher has only one thread. */
int bs_bubblewrap_plan(const struct bs_backend_context *context, const char *dir,
                       const char *scratch, int cancel, struct bs_buf *out,
                       struct bs_backend_report *report, struct bs_error *err) {
    static const char *const head[] = {BS_BUBBLEWRAP,
                                       "--unshare-all",
                                       "--die-with-parent",
                                       "--as-pid-1",
                                       "--cap-drop",
                                       "ALL",
                                       "--ro-bind",
                                       "/",
                                       "/",
                                       "--dev",
                                       "/dev",
                                       "--proc",
                                       "/proc"};
    bool writable = context->confine != BS_CONFINE_READ_ONLY;
    bool good = true;
    bs_plan_add(out, BS_PLAN_MODE, "bubblewrap");
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        bs_plan_arg(out, head[i]);
    if (bs_context_network(context) != BS_NET_NONE)
        bs_plan_arg(out, "--share-net");
    if (geteuid() == 0)
        seal_system(out);
    else if (can_keep_mounts())
        bs_plan_add(out, BS_PLAN_OWN, "mounts");
    bs_plan_arg(out, "--tmpfs");
    bs_plan_arg(out, scratch);
    bind_readable(out, context, scratch);
    if (context->confine == BS_CONFINE_FULL_DEV)
        good = bind_cache(out, context->root);
    bind(out, writable ? "--bind" : "--ro-bind", context->root);
    int code = BS_OK;
    bs_plan_add(out, BS_PLAN_CHECKED, context->root);
    if (context->profile != NULL)
        code = bs_mounts_add(context->profile, context, dir, cancel, out, report, err);
    bs_plan_arg(out, "--chdir");
    bs_plan_arg(out, "/");
    if (code == BS_OK && (!good || out->failed))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a plan");
    return code;
}

static bool add_gap(struct bs_backend_report *report, enum bs_aspect aspect, const char *why) {
    return bs_report_reason(report, aspect, BS_CLAIM_PARTIAL, "%s", why);
}

bool bs_bubblewrap_claims(const struct bs_backend_context *context, bool filtered,
                          struct bs_backend_report *report) {
    enum bs_network network = bs_context_network(context);
    bool good = bs_report_claim(report, BS_ASPECT_FS_WRITE, BS_CLAIM_FULLY) &&
                bs_report_claim(report, BS_ASPECT_FS_METADATA, BS_CLAIM_FULLY) &&
                bs_report_claim(report, BS_ASPECT_PROCESS, BS_CLAIM_FULLY) &&
                bs_report_claim(report, BS_ASPECT_IPC, BS_CLAIM_FULLY) &&
                bs_report_claim(report, BS_ASPECT_NETWORK, BS_CLAIM_FULLY);
    if (!can_keep_mounts()) {
        static const char late[] = "a file system that is mounted outside later can be written: "
                                   "this host refuses a user namespace around bubblewrap";
        good = good && add_gap(report, BS_ASPECT_FS_WRITE, late) &&
               add_gap(report, BS_ASPECT_FS_METADATA, late);
    }
    if (!filtered)
        good = good && add_gap(report, BS_ASPECT_IPC, "Unix sockets that have a path are shared") &&
               add_gap(report, BS_ASPECT_IPC, "keyrings are shared");
    if (!filtered || !bs_pipes_can_be_protected())
        good =
            good && add_gap(report, BS_ASPECT_IPC,
                            filtered ? "named pipes outside can be written to: this kernel has no "
                                       "Landlock of ABI 2, or it is disabled"
                                     : "named pipes outside can be written to");
    else if (reads_below_scratch(context))
        good = good &&
               add_gap(report, BS_ASPECT_IPC,
                       "named pipes in readable paths below the scratch or /dev can be written to");
    if (!filtered && network != BS_NET_NONE)
        good = good && add_gap(report, BS_ASPECT_IPC, "abstract sockets are shared");
    if (network == BS_NET_LIST)
        good = good && add_gap(report, BS_ASPECT_NETWORK,
                               "the whole network is open: hosts and ports cannot be filtered");
    return good;
}
