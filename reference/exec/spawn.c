#define _GNU_SOURCE
#include "exec/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/access.h"
#include "base/error.h"
#include "base/sys.h"
#include "exec/environ.h"
#include "exec/search.h"
#include "exec/spawn_fork.h"

/* What only the time of spawning needs. */
struct launch {
    struct bs_launch child; /* what either way of starting a child is given */
    struct bs_environ environment;
    char *path;
    char **argv;
    int cwd;
    int in;
    int out;
    int err;
    int report;
};

#define LAUNCH_INIT                                                                                \
    { {0}, BS_ENVIRON_INIT, NULL, NULL, -1, -1, -1, -1, -1 }

static void launch_clear(struct launch *launch) {
    bs_environ_clear(&launch->environment);
    free(launch->path);
    free(launch->argv);
    bs_close(&launch->cwd);
    bs_close(&launch->in);
    bs_close(&launch->out);
    bs_close(&launch->err);
    bs_close(&launch->report);
}

/* Names are cut so that the reason behind them is never lost. */
enum { NAME_MOST = 900 };

static int fail(const struct bs_exec_request *request, int os_error, enum bs_spawn_step step,
                struct bs_error *err) {
    static const char *const steps[] = {
        [BS_STEP_GROUP] = "process group",           [BS_STEP_ANNOUNCE] = "watcher",
        [BS_STEP_REPORT] = "report of the launcher", [BS_STEP_STDIN] = "standard input",
        [BS_STEP_STDOUT] = "standard output",        [BS_STEP_STDERR] = "standard error"};
    char buf[128];
    const char *reason = bs_os_message(os_error, buf, sizeof buf);
    if (step == BS_STEP_NONE)
        return bs_fail(err, BS_E_EXECUTION, os_error, "failed to spawn `%.*s`: %s", NAME_MOST,
                       request->program, reason);
    if (step == BS_STEP_DIRECTORY)
        return bs_fail(err, BS_E_EXECUTION, os_error,
                       "failed to spawn `%.*s`: working directory `%.*s`: %s", NAME_MOST,
                       request->program, NAME_MOST, request->current_dir, reason);
    return bs_fail(err, BS_E_EXECUTION, os_error, "failed to spawn `%.*s`: %s: %s", NAME_MOST,
                   request->program, steps[step], reason);
}

/* Our end is non-blocking; the child's keeps the default, because O_NONBLOCK would live on in every
 * program that inherits it. Flags belong to an end, not to the pipe. */
static int make_pipe(int *ours, int *theirs, bool we_read, bool nonblocking) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int *read_end = we_read ? ours : theirs;
    int *write_end = we_read ? theirs : ours;
    *read_end = bs_above_stdio(ends[0]);
    int os_error = *read_end < 0 ? errno : 0;
    *write_end = bs_above_stdio(ends[1]);
    if (os_error == 0 && *write_end < 0)
        os_error = errno;
    if (os_error == 0 && nonblocking && !bs_set_nonblocking(*ours))
        os_error = errno;
    return os_error;
}

/* Whoever waits for the start of a program asks for it by giving a socket. */
static int make_report(bool waits, int *ours, int *theirs) {
    int ends[2];
    if (!waits)
        return make_pipe(ours, theirs, true, true);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return errno;
    *ours = bs_above_stdio(ends[0]);
    int os_error = *ours < 0 ? errno : 0;
    *theirs = bs_above_stdio(ends[1]);
    return os_error == 0 && *theirs < 0 ? errno : os_error;
}

static int open_null(int *fd, int flags) {
    *fd = bs_above_stdio((int)BS_RETRY(open("/dev/null", flags | O_CLOEXEC)));
    return *fd >= 0 ? 0 : errno;
}

/* An inherited stream that the caller has closed is /dev/null, or the first file that the child
 * opens would be its stdio. */
static int plug(enum bs_plug how, int target, bool nonblocking, int *ours, int *theirs) {
    if (how == BS_PLUG_PIPE)
        return make_pipe(ours, theirs, target != 0, nonblocking);
    if (how == BS_PLUG_INHERIT && fcntl(target, F_GETFD) != -1)
        return 0;
    return open_null(theirs, target == 0 ? O_RDONLY : O_WRONLY);
}

static int plug_all(const struct bs_plugs *plugs, struct launch *launch, struct bs_child *child) {
    bool nonblocking = plugs->nonblocking;
    int os_error = plug(plugs->in, 0, nonblocking, &child->in, &launch->in);
    if (os_error == 0)
        os_error = plug(plugs->out, 1, nonblocking, &child->out, &launch->out);
    if (os_error == 0)
        os_error = plug(plugs->err, 2, nonblocking, &child->err, &launch->err);
    return os_error;
}

static int prepare_stdin(const struct bs_exec_request *request, struct launch *launch,
                         struct bs_child *child) {
    if (request->stdin_mode == BS_STDIN_BYTES) {
        int ours = -1;
        int os_error = make_pipe(&ours, &launch->in, false, true);
        bs_feed_init(&child->feed, ours, request->stdin_data, request->stdin_len);
        /* Before there is a child: what fits the pipe cannot meet a reader that is gone already. */
        if (os_error == 0)
            bs_feed_write(&child->feed);
        return os_error;
    }
    if (request->stdin_mode == BS_STDIN_INHERIT && fcntl(0, F_GETFD) != -1)
        return 0;
    return open_null(&launch->in, O_RDONLY);
}

/* What a run has: both outputs are captured. */
static int prepare_streams(const struct bs_exec_request *request, struct launch *launch,
                           struct bs_child *child) {
    int os_error = make_pipe(&child->out, &launch->out, true, true);
    if (os_error == 0)
        os_error = make_pipe(&child->err, &launch->err, true, true);
    return os_error == 0 ? prepare_stdin(request, launch, child) : os_error;
}

/* Opened before the spawn so that a bad directory can be told from a bad program, and handed to the
 * child as a descriptor so that both mean the same one. */
static int open_cwd(const char *dir, int *fd) {
    *fd = bs_above_stdio((int)BS_RETRY(open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (*fd < 0)
        return errno;
    return bs_may_execute(*fd, ".");
}

static int build_argv(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
                      struct launch *launch) {
    size_t n = 0;
    if (wrapped != NULL)
        while (wrapped->argv[n] != NULL)
            n++;
    else
        n = request->n_args + 1;
    launch->argv = calloc(n + 1, sizeof *launch->argv);
    if (launch->argv == NULL)
        return ENOMEM;
    /* posix_spawn takes char *const[] and promises not to write. */
    for (size_t i = 0; i < n; i++) {
        const char *word = wrapped != NULL ? wrapped->argv[i]
                           : i == 0        ? request->program
                                           : request->args[i - 1];
        launch->argv[i] = (char *)(uintptr_t)word;
    }
    return 0;
}

static int prepare(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
                   const struct bs_plugs *plugs, struct launch *launch, struct bs_child *child,
                   struct bs_error *err) {
    bool clears = wrapped != NULL && wrapped->clears_env && request->env_mode == BS_ENV_INHERIT;
    int os_error = bs_environ_build(
        &launch->environment, clears ? BS_ENV_CLEAR_AND_SET : request->env_mode,
        clears ? NULL : request->env, clears ? 0 : request->n_env,
        wrapped != NULL ? wrapped->env : NULL, wrapped != NULL ? wrapped->n_env : 0);
    if (os_error == EINVAL)
        return bs_fail(err, BS_E_EXECUTION, os_error,
                       "failed to spawn `%.*s`: an environment name is empty or holds `=`",
                       NAME_MOST, request->program);
    if (os_error == 0)
        os_error = build_argv(request, wrapped, launch);
    if (os_error != 0)
        return fail(request, os_error, BS_STEP_NONE, err);
    if (request->current_dir != NULL) {
        os_error = open_cwd(request->current_dir, &launch->cwd);
        if (os_error != 0)
            return fail(request, os_error, BS_STEP_DIRECTORY, err);
    }
    int dir = launch->cwd >= 0 ? launch->cwd : AT_FDCWD;
    os_error = bs_search(dir, launch->argv[0], bs_environ_get(launch->environment.envp, "PATH"),
                         &launch->path);
    if (os_error == 0)
        os_error = plugs != NULL ? plug_all(plugs, launch, child)
                                 : prepare_streams(request, launch, child);
    if (os_error == 0 && wrapped != NULL && wrapped->launches)
        os_error = make_report(plugs != NULL, &child->report, &launch->report);
    if (os_error == 0)
        os_error = bs_watch_prepare(&child->watch);
    if (os_error != 0)
        return fail(request, os_error, BS_STEP_NONE, err);
    /* A launcher leads a session of its own, which the terminal stops nothing in. */
    enum bs_plug in = plugs != NULL ? plugs->in : BS_PLUG_INHERIT;
    bool inherits = plugs != NULL || request->stdin_mode == BS_STDIN_INHERIT;
    if (inherits && in == BS_PLUG_INHERIT && launch->report < 0)
        bs_terminal_lend(&child->terminal);
    launch->child = (struct bs_launch){.path = launch->path,
                                       .argv = launch->argv,
                                       .envp = launch->environment.envp,
                                       .cwd = launch->cwd,
                                       .in = launch->in,
                                       .out = launch->out,
                                       .err = launch->err,
                                       .report = launch->report,
                                       .announce = plugs != NULL ? plugs->announce : -1,
                                       .takes_terminal = child->terminal.lent};
    return BS_OK;
}

static int start(const struct bs_launch *launch, pid_t *pid, enum bs_spawn_step *step) {
    if (launch->announce >= 0 || launch->takes_terminal)
        return bs_spawn_fork(launch, pid, step);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int os_error = posix_spawn_file_actions_init(&actions);
    if (os_error != 0)
        return os_error;
    os_error = posix_spawnattr_init(&attr);
    if (os_error != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return os_error;
    }
    /* The mask is not touched: the child gets the caller's. Default for the two signals that the
     * group is ended with, and for SIGPIPE, because programs count on it. */
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGINT);
    (void)sigaddset(&defaults, SIGTERM);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)posix_spawnattr_setsigdefault(&attr, &defaults);
    (void)posix_spawnattr_setpgroup(&attr, 0);
    /* Who leads a session leads a group, too, and may not be asked to become what it is. */
    int leads = launch->report >= 0 ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    (void)posix_spawnattr_setflags(&attr, (short)(leads | POSIX_SPAWN_SETSIGDEF));
    if (launch->cwd >= 0)
        os_error = posix_spawn_file_actions_addfchdir_np(&actions, launch->cwd);
    if (os_error == 0 && launch->in >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, launch->in, 0);
    if (os_error == 0 && launch->out >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, launch->out, 1);
    if (os_error == 0 && launch->err >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, launch->err, 2);
    /* Last: it may take the number of one of those above. */
    if (os_error == 0 && launch->report >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, launch->report, BS_LAUNCH_REPORT_FD);
    if (os_error == 0)
        os_error = posix_spawn(pid, launch->path, &actions, &attr, launch->argv, launch->envp);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (os_error == EPERM && bs_clone3_refused())
        os_error = bs_spawn_fork(launch, pid, step);
    return os_error;
}

static void give_up(struct bs_child *child) {
    bs_terminal_take_back(&child->terminal);
    bs_watch_close(&child->watch);
    bs_close(&child->in);
    bs_close(&child->out);
    bs_close(&child->err);
    bs_close(&child->report);
    bs_close(&child->feed.fd);
    *child = (struct bs_child)BS_CHILD_INIT;
}

int bs_spawn(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
             const struct bs_plugs *plugs, struct bs_child *child, struct bs_error *err) {
    struct launch launch = LAUNCH_INIT;
    *child = (struct bs_child)BS_CHILD_INIT;
    int code = prepare(request, wrapped, plugs, &launch, child, err);
    if (code != BS_OK)
        goto finish;
    enum bs_spawn_step step = BS_STEP_NONE;
    int os_error = start(&launch.child, &child->pid, &step);
    if (os_error == 0)
        bs_watch_start(&child->watch, child->pid);
    else
        code = fail(request, os_error, step, err);
finish:
    launch_clear(&launch);
    if (code != BS_OK)
        give_up(child);
    return code;
}
