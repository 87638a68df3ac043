/* The leader of the group: it stays until the program has ended, and ends the same way. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "backend/plan.h"
#include "base/sys.h"

struct launcher {
    const struct plan *plan;
    struct program *program;
    pid_t child;
    bool namespaces;
    bool going; /* the program was let go */
    bool tells; /* the caller waits for the start: its report is a socket */
    bool ended;
    int wait_status; /* of the program */
    int signals;
    int status;  /* what the inside says; our end */
    int environ; /* its word to go; our end */
    int said;    /* what bubblewrap has to say; our end */
    int caller;  /* the pipe of the report: an error once the caller has gone */
    int pump_in; /* a regular file that is passed on as a pipe */
    int pump_out;
    size_t pumped;
    size_t filled;
    char pump[16 * 1024];
    char words[200]; /* the last that bubblewrap said */
    uint64_t until;  /* when the grace is over */
    uint64_t strays; /* when those who left the group have no more time */
    bool has_failed;
    struct bs_launch_failure failure;
};

/* Those who left the group have no promise of a grace; they go before the caller's own SIGKILL,
 * after which nobody is left to end them. */
enum { STRAYS_MS = BS_EXEC_GRACE_MS - 500 };

static bool make_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *read_end = ends[0];
    *write_end = ends[1];
    /* Above the numbers that pid 1 finds its own at. */
    for (int *end = read_end; end != NULL; end = end == read_end ? write_end : NULL) {
        int moved = fcntl(*end, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (moved < 0)
            return false;
        bs_close(end);
        *end = moved;
    }
    return true;
}

/* A regular file can be opened anew through /proc, for writing too; a directory leads out of the
 * sandbox. Pipes, sockets and terminals are what they are. */
static bool check_stdio(struct launcher *launcher, struct bs_launch_failure *failure) {
    for (int fd = 0; fd <= 2; fd++) {
        struct stat st;
        if (fstat(fd, &st) != 0) {
            int null = (int)BS_RETRY(open("/dev/null", O_RDWR));
            if (null != fd)
                return failed(failure, BS_LAUNCH_STDIO, errno, "/dev/null");
            continue;
        }
        int flags = fcntl(fd, F_GETFL);
        if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode) || (flags & O_PATH) != 0)
            return failed(failure, BS_LAUNCH_STDIO, 0,
                          "a directory or a disk: give a file, a pipe or a terminal");
        if (!S_ISREG(st.st_mode))
            continue;
        if (fd != 0 || (flags & O_ACCMODE) == O_WRONLY)
            return failed(failure, BS_LAUNCH_STDIO, 0,
                          "output to a regular file: give a pipe and copy it there");
        int theirs = -1;
        launcher->pump_in = fcntl(0, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (launcher->pump_in < 0 || !make_pipe(&theirs, &launcher->pump_out) ||
            dup2(theirs, 0) != 0 || !bs_set_nonblocking(launcher->pump_out))
            return failed(failure, BS_LAUNCH_STDIO, errno, "a pipe");
        bs_close(&theirs);
    }
    return true;
}

static void pump(struct launcher *launcher) {
    if (launcher->pumped == launcher->filled) {
        ssize_t n =
            (ssize_t)BS_RETRY(read(launcher->pump_in, launcher->pump, sizeof launcher->pump));
        launcher->pumped = 0;
        launcher->filled = n > 0 ? (size_t)n : 0;
    }
    ssize_t n = -1;
    if (launcher->filled > 0)
        n = (ssize_t)BS_RETRY(write(launcher->pump_out, launcher->pump + launcher->pumped,
                                    launcher->filled - launcher->pumped));
    if (n > 0)
        launcher->pumped += (size_t)n;
    if (launcher->filled == 0 || (n < 0 && errno != EAGAIN)) {
        bs_close(&launcher->pump_in);
        bs_close(&launcher->pump_out);
    }
}

static void stop_here(int status, const struct bs_launch_failure *failure) {
    const struct status said = {.kind = STATUS_FAILED, .failure = *failure};
    send_status(status, &said);
    _exit(BS_LAUNCH_FAILED);
}

/* Landlock: the child confines itself and becomes the program. Closing `status` by executing is
 * what tells that it did. */
static void become_program(const struct launcher *launcher, int status, int go) {
    struct bs_launch_failure failure;
    const struct plan *plan = launcher->plan;
    void *filter = NULL;
    size_t len = 0;
    char byte = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (BS_RETRY(read(go, &byte, 1)) != 1)
        _exit(BS_LAUNCH_FAILED);
    if (plan->filter != NULL) {
        int fd = (int)BS_RETRY(open(plan->filter, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (fd < 0) {
            (void)failed(&failure, BS_LAUNCH_SANDBOX, errno, "its filter");
            stop_here(status, &failure);
        }
        if (!read_filter(fd, &filter, &len, &failure))
            stop_here(status, &failure);
    }
    bool good = drop_privileges(&failure) && apply_ruleset(plan, &failure) &&
                (filter == NULL || apply_filter(filter, len, &failure));
    /* A message of the program is not the launcher's: nothing is open above 2 after this. */
    if (good && !close_from(3, true))
        good = failed(&failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    if (good)
        execute(launcher->program, &failure);
    stop_here(status, &failure);
}

static bool place(int fd, int at) {
    return fd == at ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, at) == at;
}

/* bubblewrap: its last words are "--", this program, and what that is to do. */
static void become_bubblewrap(const struct launcher *launcher, int status, int go, int said) {
    struct bs_launch_failure failure;
    const struct plan *plan = launcher->plan;
    const struct program *program = launcher->program;
    char mask[65] = {0};
    for (int signo = 1; signo <= 64; signo++)
        mask[signo - 1] = sigismember(&program->mask, signo) == 1 ? '1' : '0';
    size_t n = 0;
    while (program->argv[n] != NULL)
        n++;
    const char **argv = calloc(plan->n_args + n + 10, sizeof *argv);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int filter = -1;
    int self = (int)BS_RETRY(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    if (plan->filter != NULL)
        filter = (int)BS_RETRY(open(plan->filter, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    int own[3]; /* of the program */
    bool kept = true;
    for (int fd = 0; fd <= 2; fd++) {
        own[fd] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        kept = kept && own[fd] >= 0;
    }
    /* Out of the way of each other's places. */
    self = self >= 0 ? fcntl(self, F_DUPFD_CLOEXEC, FIRST_FREE_FD) : -1;
    filter = filter >= 0 ? fcntl(filter, F_DUPFD_CLOEXEC, FIRST_FREE_FD) : -1;
    bool good = argv != NULL && self >= 0 && kept && (filter >= 0) == (plan->filter != NULL) &&
                place(status, STATUS_FD) && place(go, ENVIRON_FD) && place(own[0], STDIN_FD) &&
                place(own[1], STDOUT_FD) && place(own[2], STDERR_FD) && place(self, SELF_FD) &&
                (filter < 0 || place(filter, FILTER_FD)) && dup2(said, 2) == 2 &&
                let_go_of_stdio(false);
    if (!good) {
        (void)failed(&failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
        stop_here(status, &failure);
    }
    size_t at = 0;
    for (size_t i = 0; i < plan->n_args; i++)
        argv[at++] = plan->args[i];
    char self_path[32];
    (void)snprintf(self_path, sizeof self_path, "/proc/self/fd/%d", SELF_FD);
    argv[at++] = "--";
    argv[at++] = self_path;
    argv[at++] = BS_LAUNCH_INSIDE;
    argv[at++] = filter >= 0 ? "filtered" : "bare";
    argv[at++] = launcher->tells ? "tells" : "silent";
    argv[at++] = mask;
    argv[at++] = program->cwd;
    argv[at++] = "--";
    memcpy(argv + at, program->argv, n * sizeof *argv);
    char *nothing[] = {NULL};
    (void)execve(argv[0], (char *const *)(uintptr_t)argv, nothing);
    (void)failed(&failure, BS_LAUNCH_SANDBOX, errno, argv[0]);
    stop_here(status, &failure);
}

static bool start(struct launcher *launcher) {
    int status = -1;
    int go = -1;
    int said = -1;
    struct bs_launch_failure *failure = &launcher->failure;
    if (!make_pipe(&launcher->status, &status) || !make_pipe(&go, &launcher->environ) ||
        !bs_set_nonblocking(launcher->status) ||
        (launcher->namespaces && !make_pipe(&launcher->said, &said)))
        return failed(failure, BS_LAUNCH_SANDBOX, errno, "a pipe");
    launcher->child = fork();
    if (launcher->child == 0) {
        if (launcher->namespaces)
            become_bubblewrap(launcher, status, go, said);
        become_program(launcher, status, go);
    }
    if (launcher->child < 0)
        return failed(failure, BS_LAUNCH_PROGRAM, errno, "");
    bs_close(&status);
    bs_close(&go);
    bs_close(&said);
    return true;
}

/* Everything that was asked to end before the program was there ends it before it is. */
static void let_go(struct launcher *launcher) {
    launcher->going = true;
    if (!launcher->namespaces) {
        (void)!BS_RETRY(write(launcher->environ, "", 1));
        bs_close(&launcher->environ);
        return;
    }
    size_t n = 0;
    for (char *const *entry = launcher->program->envp; *entry != NULL; entry++, n++) {
        const char *text = *entry;
        size_t left = strlen(text) + 1;
        while (left > 0) {
            ssize_t written = (ssize_t)BS_RETRY(write(launcher->environ, text, left));
            if (written < 0)
                break; /* it is gone, and its status says why */
            text += written;
            left -= (size_t)written;
        }
    }
    (void)!BS_RETRY(write(launcher->environ, "", 1));
    bs_close(&launcher->environ);
}

/* Behind a failure it says nothing: that is the word that is waited for. */
static void tell_start(struct launcher *launcher) {
    static const struct bs_launch_failure started = {.step = BS_LAUNCH_STARTED};
    if (launcher->tells && !launcher->has_failed)
        (void)!BS_RETRY(write(BS_LAUNCH_REPORT_FD, &started, sizeof started));
    launcher->tells = false;
}

static void read_status(struct launcher *launcher) {
    struct status status;
    while (BS_RETRY(read(launcher->status, &status, sizeof status)) == (long)sizeof status) {
        if (status.kind == STATUS_READY && !launcher->going && launcher->until == BS_NEVER)
            let_go(launcher);
        if (status.kind == STATUS_STARTED)
            tell_start(launcher);
        if (status.kind == STATUS_ENDED) {
            launcher->ended = true;
            launcher->wait_status = status.wait_status;
        }
        if (status.kind == STATUS_FAILED) {
            launcher->has_failed = true;
            launcher->failure = status.failure;
        }
    }
}

static void read_words(struct launcher *launcher) {
    char text[512];
    ssize_t n = (ssize_t)BS_RETRY(read(launcher->said, text, sizeof text));
    if (n <= 0) {
        bs_close(&launcher->said);
        return;
    }
    size_t len = strlen(launcher->words);
    for (ssize_t i = 0; i < n && len + 1 < sizeof launcher->words; i++) {
        bool plain = text[i] >= ' ' || text[i] < 0;
        if (plain || len > 0)
            launcher->words[len++] = plain ? text[i] : ' ';
    }
    launcher->words[len] = '\0';
}

static void take_signals(struct launcher *launcher) {
    struct signalfd_siginfo info;
    while (BS_RETRY(read(launcher->signals, &info, sizeof info)) == (long)sizeof info) {
        bool ends = info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM;
        if (!ends || launcher->until != BS_NEVER)
            continue;
        uint64_t now = bs_now_ns();
        launcher->until = bs_after_ms(now, BS_EXEC_GRACE_MS);
        launcher->strays = bs_after_ms(now, STRAYS_MS);
        if (!launcher->going) {
            (void)kill(launcher->child, SIGKILL);
            launcher->has_failed = true;
            (void)failed(&launcher->failure, BS_LAUNCH_SANDBOX, EINTR, "ended before it began");
        }
    }
}

static bool collect(struct launcher *launcher) {
    int status = 0;
    pid_t pid = 0;
    bool child = false;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != launcher->child)
            continue;
        child = true;
        if (!launcher->namespaces) {
            launcher->ended = true;
            launcher->wait_status = status;
        }
    }
    return child;
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* A caller that was killed ends nothing itself, and nobody waits for the program any more. */
static void follow_the_caller(void) {
    kill_leftovers(true);
    (void)kill(0, SIGKILL); /* ourselves among them */
}

static void wait_for_events(struct launcher *launcher, bool gone) {
    struct pollfd set[] = {{launcher->signals, POLLIN, 0},
                           {launcher->status, POLLIN, 0},
                           {launcher->said, POLLIN, 0},
                           {launcher->pump_out, POLLOUT, 0},
                           {launcher->caller, 0, 0}};
    if (!launcher->namespaces && !launcher->tells)
        set[1].fd = -1;
    uint64_t now = bs_now_ns();
    uint64_t at = earlier(launcher->until, launcher->strays);
    if (gone) /* members of the group are nobody's children here: they are looked for */
        at = earlier(at, bs_after_ms(now, 20));
    if (BS_RETRY(poll(set, sizeof set / sizeof *set, bs_poll_timeout(now, at))) <= 0)
        return;
    if (set[1].revents != 0) {
        read_status(launcher);
        /* Under Landlock the end of the pipe is the start of the program. */
        if (!launcher->namespaces)
            tell_start(launcher);
    }
    if (set[2].revents != 0)
        read_words(launcher);
    if (set[3].revents != 0)
        pump(launcher);
    if (set[0].revents != 0)
        take_signals(launcher);
    if (set[4].revents != 0)
        follow_the_caller();
}

/* Until the child is gone, and in a grace until its group is. */
static void supervise(struct launcher *launcher) {
    bool gone = false;
    while (!gone || (launcher->until != BS_NEVER && !launcher->namespaces && group_has_others())) {
        wait_for_events(launcher, gone);
        uint64_t now = bs_now_ns();
        if (now >= launcher->strays) {
            launcher->strays = BS_NEVER;
            if (!launcher->namespaces)
                kill_leftovers(false);
        }
        if (now >= launcher->until)
            (void)kill(0, SIGKILL); /* ourselves among them */
        gone = collect(launcher) || gone;
        if (gone && launcher->status >= 0 && launcher->namespaces)
            read_status(launcher);
    }
}

static void report(const struct launcher *launcher, bool reports) {
    const struct bs_launch_failure *failure = &launcher->failure;
    if (reports) {
        (void)!BS_RETRY(write(BS_LAUNCH_REPORT_FD, failure, sizeof *failure));
        return;
    }
    (void)fprintf(stderr, "boxspec-launch: %s%s%s\n", failure->words,
                  failure->words[0] != '\0' && failure->os_error != 0 ? ": " : "",
                  failure->os_error != 0 ? strerror(failure->os_error) : "");
}

static int end_like(int wait_status) {
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int signo = WTERMSIG(wait_status);
    /* The core was the program's, not ours. */
    const struct rlimit none = {0, 0};
    struct sigaction action;
    sigset_t set;
    (void)setrlimit(RLIMIT_CORE, &none);
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    (void)sigaction(signo, &action, NULL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, signo);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)kill(getpid(), signo);
    return 128 + signo;
}

/* In a session of its own no terminal can be reached; and the group is this process's. */
static bool lead(struct bs_launch_failure *failure) {
    if (getsid(0) != getpid() && setsid() == -1)
        return failed(failure, BS_LAUNCH_SANDBOX, 0,
                      "it leads a group but no session: start it by setsid");
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ||
           failed(failure, BS_LAUNCH_SANDBOX, errno, "subreaper");
}

static bool is_socket(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

int outside(const struct plan *plan, struct program *program, bool reports) {
    static struct launcher launcher; /* with its buffers too long for a stack */
    launcher.plan = plan;
    launcher.program = program;
    launcher.namespaces = plan->namespaces;
    launcher.signals = launcher.status = launcher.environ = launcher.said = -1;
    launcher.pump_in = launcher.pump_out = -1;
    launcher.caller = reports ? BS_LAUNCH_REPORT_FD : -1;
    launcher.tells = reports && is_socket(BS_LAUNCH_REPORT_FD);
    launcher.until = launcher.strays = BS_NEVER;
    sigset_t set;
    block_signals(&program->mask);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCHLD);
    char *cwd = NULL;
    launcher.has_failed = true; /* until it is past this */
    if (!close_from(reports ? BS_LAUNCH_REPORT_FD + 1 : 3, false))
        (void)failed(&launcher.failure, BS_LAUNCH_SANDBOX, errno, "descriptors");
    else if (reports && fcntl(BS_LAUNCH_REPORT_FD, F_SETFD, FD_CLOEXEC) != 0)
        (void)failed(&launcher.failure, BS_LAUNCH_SANDBOX, errno, "the report");
    else if (program->cwd != NULL && chdir(program->cwd) != 0)
        (void)failed(&launcher.failure, BS_LAUNCH_DIRECTORY, errno, program->cwd);
    else if ((cwd = getcwd(NULL, 0)) == NULL || cwd[0] != '/')
        (void)failed(&launcher.failure, BS_LAUNCH_DIRECTORY, cwd == NULL ? errno : ENOENT, ".");
    else if (lead(&launcher.failure) && check_stdio(&launcher, &launcher.failure)) {
        program->cwd = cwd; /* where it really is */
        launcher.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        launcher.has_failed = launcher.signals < 0 || !start(&launcher);
        if (!launcher.has_failed) {
            (void)let_go_of_stdio(reports);
            /* Whatever is sent from now on reaches the child, too. */
            take_signals(&launcher);
            if (!launcher.namespaces && launcher.until == BS_NEVER)
                let_go(&launcher);
            supervise(&launcher);
            if (!launcher.namespaces)
                read_status(&launcher);
        }
    }
    /* In a grace the group is left to whoever ends it. */
    kill_leftovers(true);
    if (!launcher.has_failed && !launcher.ended) {
        launcher.has_failed = true;
        if (launcher.said >= 0)
            read_words(&launcher);
        (void)failed(&launcher.failure, BS_LAUNCH_SANDBOX, 0,
                     launcher.words[0] != '\0' ? launcher.words : "it ended before the program");
    }
    if (launcher.has_failed) {
        report(&launcher, reports);
        return BS_LAUNCH_FAILED;
    }
    return end_like(launcher.wait_status);
}
