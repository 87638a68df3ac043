/* The leader of the group: it stays until the program has ended, and ends the same way. */
#define _GNU_SOURCE
#include "backend/launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/plan.h"
#include "base/sys.h"

/* Those who left the group have no promise of a grace; they go before the caller's own SIGKILL,
 * after which nobody is left to end them. */
enum { STRAYS_MS = BS_EXEC_GRACE_MS - 500 };

/* Behind a failure it says nothing: that is the word that is waited for. */
static void tell_start(struct launcher *launcher) {
    static const struct bs_launch_failure started = {.step = BS_LAUNCH_STARTED};
    if (launcher->tells && !launcher->has_failed)
        (void)!BS_RETRY(write(BS_LAUNCH_REPORT_FD, &started, sizeof started));
    launcher->tells = false;
}

static void read_status(struct launcher *launcher) {
    struct status status;
    ssize_t n = 0;
    while ((n = (ssize_t)BS_RETRY(read(launcher->status, &status, sizeof status))) ==
           (ssize_t)sizeof status) {
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
    if (n == 0) /* an end that is left in the set would wake it again and again */
        bs_close(&launcher->status);
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

/* The first word of anybody that it shall end. */
static void begin_end(struct launcher *launcher) {
    if (launcher->until != BS_NEVER)
        return;
    uint64_t now = bs_now_ns();
    launcher->until = bs_after_ms(now, BS_EXEC_GRACE_MS);
    launcher->strays = bs_after_ms(now, STRAYS_MS);
    if (!launcher->going) {
        (void)kill(launcher->child, SIGKILL);
        launcher->has_failed = true;
        (void)failed(&launcher->failure, BS_LAUNCH_SANDBOX, EINTR, "ended before it began");
    }
}

static void take_signals(struct launcher *launcher) {
    struct signalfd_siginfo info;
    while (BS_RETRY(read(launcher->signals, &info, sizeof info)) == (long)sizeof info) {
        if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM)
            begin_end(launcher);
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
    struct pollfd set[] = {{launcher->signals, POLLIN, 0}, {launcher->status, POLLIN, 0},
                           {launcher->said, POLLIN, 0},    pump_reads(launcher),
                           pump_writes(launcher),          {launcher->caller, 0, 0}};
    uint64_t now = bs_now_ns();
    uint64_t at = earlier(launcher->until, launcher->strays);
    if (gone) /* members of the group are nobody's children here: they are looked for */
        at = earlier(at, bs_after_ms(now, 20));
    if (BS_RETRY(poll(set, sizeof set / sizeof *set, bs_poll_timeout(now, at))) <= 0)
        return;
    if (set[0].revents != 0) /* before the status: whom pid 1 could not hear is not let go */
        take_signals(launcher);
    if (set[1].revents != 0)
        read_status(launcher);
    if (set[2].revents != 0)
        read_words(launcher);
    if (set[3].revents != 0 || set[4].revents != 0)
        pump(launcher, set[3].revents, set[4].revents);
    if (set[5].revents != 0)
        follow_the_caller();
}

/* Until the child is gone, and in a grace until its group is. */
static void supervise(struct launcher *launcher) {
    bool gone = false;
    while (!gone ||
           (launcher->until != BS_NEVER && !launcher->namespaces && group_may_have_others())) {
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
        if (gone && launcher->status >= 0)
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

int outside(const struct plan *plan, struct program *program, bool reports, bool own_stdin) {
    static struct launcher launcher; /* with its buffers too long for a stack */
    launcher.plan = plan;
    launcher.program = program;
    launcher.namespaces = plan->namespaces;
    launcher.signals = launcher.status = launcher.told = launcher.said = -1;
    launcher.streams.from = launcher.streams.to = -1;
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
    else if (lead(&launcher.failure) && check_stdio(&launcher, own_stdin, &launcher.failure)) {
        program->cwd = cwd; /* where it really is */
        launcher.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        bool asked = false;
        /* In namespaces pid 1 does it. */
        bool handed =
            !launcher.namespaces && hand_over(0, &launcher.streams) && let_go_of_stdio(reports);
        launcher.has_failed = launcher.signals < 0 || !start(&launcher, &asked);
        if (!launcher.has_failed) {
            if (!launcher.namespaces) /* else pid 1 says so */
                tell_start(&launcher);
            if (!handed)
                (void)let_go_of_stdio(reports);
            /* What was sent since then reached the child, too. */
            if (asked)
                begin_end(&launcher);
            supervise(&launcher);
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
