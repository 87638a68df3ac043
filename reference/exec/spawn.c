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

/* State that is needed only while the child is being started. */
struct spawn_state {
    struct bs_spawn_args child; /* input of posix_spawn and of bs_spawn_fork */
    struct bs_environ environment;
    char *path;
    char **argv;
    int cwd;
    int in;
    int out;
    int err;
    int report;
};

#define SPAWN_STATE_INIT                                                                           \
    { {0}, BS_ENVIRON_INIT, NULL, NULL, -1, -1, -1, -1, -1 }

static void spawn_state_clear(struct spawn_state *state) {
    bs_environ_clear(&state->environment);
    free(state->path);
    free(state->argv);
    bs_close(&state->cwd);
    bs_close(&state->in);
    bs_close(&state->out);
    bs_close(&state->err);
    bs_close(&state->report);
}

/* Longer names are cut, so that the reason after the name fits in the message. */
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

/* Make a pipe between caller and child. `nonblocking` applies to the caller's end only, because
 * programs do not expect O_NONBLOCK on their streams. */
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

/* Make the channel of a launcher's report: a pipe, or a socket if the caller awaits the start. */
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

/* Connect one stream of the child. If the caller has closed its own stream, the child gets
 * /dev/null; otherwise the first file that the child opens would get the number of the stream. */
static int connect_stream(enum bs_connection how, int target, bool nonblocking, int *ours,
                          int *theirs) {
    if (how == BS_CONNECT_PIPE)
        return make_pipe(ours, theirs, target != 0, nonblocking);
    if (how == BS_CONNECT_INHERIT && fcntl(target, F_GETFD) != -1)
        return 0;
    return open_null(theirs, target == 0 ? O_RDONLY : O_WRONLY);
}

static int connect_streams(const struct bs_connections *connections, struct spawn_state *state,
                           struct bs_child *child) {
    bool nonblocking = connections->nonblocking;
    int os_error = connect_stream(connections->in, 0, nonblocking, &child->in, &state->in);
    if (os_error == 0)
        os_error = connect_stream(connections->out, 1, nonblocking, &child->out, &state->out);
    if (os_error == 0)
        os_error = connect_stream(connections->err, 2, nonblocking, &child->err, &state->err);
    return os_error;
}

static int prepare_stdin(const struct bs_exec_request *request, struct spawn_state *state,
                         struct bs_child *child) {
    if (request->stdin_mode == BS_STDIN_BYTES) {
        int ours = -1;
        int os_error = make_pipe(&ours, &state->in, false, true);
        bs_feed_init(&child->feed, ours, request->stdin_data, request->stdin_len);
        /* Write before the spawn, so that a payload that fits in the pipe is delivered even if the
         * child ends at once. */
        if (os_error == 0)
            bs_feed_write(&child->feed);
        return os_error;
    }
    if (request->stdin_mode == BS_STDIN_INHERIT && fcntl(0, F_GETFD) != -1)
        return 0;
    return open_null(&state->in, O_RDONLY);
}

/* Connect the streams of a run, which captures both outputs. */
static int prepare_streams(const struct bs_exec_request *request, struct spawn_state *state,
                           struct bs_child *child) {
    int os_error = make_pipe(&child->out, &state->out, true, true);
    if (os_error == 0)
        os_error = make_pipe(&child->err, &state->err, true, true);
    return os_error == 0 ? prepare_stdin(request, state, child) : os_error;
}

/* Open the working directory before the spawn, so that an error message names the directory and not
 * the program. The child changes to this descriptor, so it gets exactly the directory that was
 * checked. */
static int open_cwd(const char *dir, int *fd) {
    *fd = bs_above_stdio((int)BS_RETRY(open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (*fd < 0)
        return errno;
    return bs_may_execute(*fd, ".");
}

static int build_argv(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
                      struct spawn_state *state) {
    size_t n = 0;
    if (wrapped != NULL)
        while (wrapped->argv[n] != NULL)
            n++;
    else
        n = request->n_args + 1;
    state->argv = calloc(n + 1, sizeof *state->argv);
    if (state->argv == NULL)
        return ENOMEM;
    /* posix_spawn takes char *const[] but does not write to the strings. */
    for (size_t i = 0; i < n; i++) {
        const char *word = wrapped != NULL ? wrapped->argv[i]
                           : i == 0        ? request->program
                                           : request->args[i - 1];
        state->argv[i] = (char *)(uintptr_t)word;
    }
    return 0;
}

static int prepare(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
                   const struct bs_connections *connections, struct spawn_state *state,
                   struct bs_child *child, struct bs_error *err) {
    bool clears = wrapped != NULL && wrapped->clears_env && request->env_mode == BS_ENV_INHERIT;
    int os_error = bs_environ_build(
        &state->environment, clears ? BS_ENV_CLEAR_AND_SET : request->env_mode,
        clears ? NULL : request->env, clears ? 0 : request->n_env,
        wrapped != NULL ? wrapped->env : NULL, wrapped != NULL ? wrapped->n_env : 0);
    if (os_error == EINVAL)
        return bs_fail(err, BS_E_EXECUTION, os_error,
                       "failed to spawn `%.*s`: an environment name is empty or holds `=`",
                       NAME_MOST, request->program);
    if (os_error == 0)
        os_error = build_argv(request, wrapped, state);
    if (os_error != 0)
        return fail(request, os_error, BS_STEP_NONE, err);
    if (request->current_dir != NULL) {
        os_error = open_cwd(request->current_dir, &state->cwd);
        if (os_error != 0)
            return fail(request, os_error, BS_STEP_DIRECTORY, err);
    }
    int dir = state->cwd >= 0 ? state->cwd : AT_FDCWD;
    os_error = bs_search(dir, state->argv[0], bs_environ_get(state->environment.envp, "PATH"),
                         &state->path);
    if (os_error == 0)
        os_error = connections != NULL ? connect_streams(connections, state, child)
                                       : prepare_streams(request, state, child);
    if (os_error == 0 && wrapped != NULL && wrapped->is_launcher)
        os_error = make_report(connections != NULL, &child->report, &state->report);
    if (os_error == 0)
        os_error = bs_watch_prepare(&child->watch);
    if (os_error != 0)
        return fail(request, os_error, BS_STEP_NONE, err);
    /* The program of a launcher cannot use the terminal, because the launcher leads a new session.
     * So no terminal is lent. */
    enum bs_connection in = connections != NULL ? connections->in : BS_CONNECT_INHERIT;
    bool inherits = connections != NULL || request->stdin_mode == BS_STDIN_INHERIT;
    if (inherits && in == BS_CONNECT_INHERIT && state->report < 0)
        bs_terminal_lend(&child->terminal);
    state->child =
        (struct bs_spawn_args){.path = state->path,
                               .argv = state->argv,
                               .envp = state->environment.envp,
                               .cwd = state->cwd,
                               .in = state->in,
                               .out = state->out,
                               .err = state->err,
                               .report = state->report,
                               .announce = connections != NULL ? connections->announce : -1,
                               .takes_terminal = child->terminal.lent};
    return BS_OK;
}

static int start(const struct bs_spawn_args *spawn, pid_t *pid, enum bs_spawn_step *step) {
    if (spawn->announce >= 0 || spawn->takes_terminal)
        return bs_spawn_fork(spawn, pid, step);
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
    /* The child keeps the signal mask of the caller. Three signals get their default disposition:
     * the two that end the group, and SIGPIPE, which programs rely on. */
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGINT);
    (void)sigaddset(&defaults, SIGTERM);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)posix_spawnattr_setsigdefault(&attr, &defaults);
    (void)posix_spawnattr_setpgroup(&attr, 0);
    /* A session leader leads its own group already, and setpgid would fail with EPERM. */
    int leads = spawn->report >= 0 ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    (void)posix_spawnattr_setflags(&attr, (short)(leads | POSIX_SPAWN_SETSIGDEF));
    if (spawn->cwd >= 0)
        os_error = posix_spawn_file_actions_addfchdir_np(&actions, spawn->cwd);
    if (os_error == 0 && spawn->in >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, spawn->in, 0);
    if (os_error == 0 && spawn->out >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, spawn->out, 1);
    if (os_error == 0 && spawn->err >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, spawn->err, 2);
    /* This dup2 is the last one, because number 3 may be the source of a dup2 above. */
    if (os_error == 0 && spawn->report >= 0)
        os_error = posix_spawn_file_actions_adddup2(&actions, spawn->report, BS_LAUNCH_REPORT_FD);
    if (os_error == 0)
        os_error = posix_spawn(pid, spawn->path, &actions, &attr, spawn->argv, spawn->envp);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (os_error == EPERM && bs_clone3_refused())
        os_error = bs_spawn_fork(spawn, pid, step);
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
             const struct bs_connections *connections, struct bs_child *child,
             struct bs_error *err) {
    struct spawn_state state = SPAWN_STATE_INIT;
    *child = (struct bs_child)BS_CHILD_INIT;
    int code = prepare(request, wrapped, connections, &state, child, err);
    if (code != BS_OK)
        goto finish;
    enum bs_spawn_step step = BS_STEP_NONE;
    child->spawned_at = bs_now_ns();
    int os_error = start(&state.child, &child->pid, &step);
    if (os_error == 0)
        bs_watch_start(&child->watch, child->pid);
    else
        code = fail(request, os_error, step, err);
finish:
    spawn_state_clear(&state);
    if (code != BS_OK)
        give_up(child);
    return code;
}
