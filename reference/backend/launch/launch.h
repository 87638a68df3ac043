/* The launcher: a small static program that confines a program and starts it.
 *
 *   boxspec-launch --plan FILE [--chdir DIR] [--report] [--own-stdin] -- PROGRAM [ARGUMENT...]
 *
 * Outside (outside.c) it leads the process group, closes what is open above 2, passes what a
 * file or a pipe on 0 has on by a pipe, and stays until the program has ended: it ends the same
 * way, by the same signal or with the same status. For bubblewrap it starts itself once more as pid
 * 1 of the namespace (inside.c), which hands INT, TERM and CONT to everything that runs there, and
 * gives it the grace that bubblewrap alone would not give. child.c starts what comes next in both,
 * and confine.c is the last step.
 *
 * It is static: what the environment of the program says to the dynamic linker must not be obeyed
 * before the program is confined. For the same reason bubblewrap gets an empty environment.
 *
 * Signals are blocked in all of these processes and read one by one, so none is lost between two
 * looks; only while its child is made (start.c) the outside has a handler for INT and TERM. The
 * program gets back the mask that the caller had.
 */
#ifndef BS_BACKEND_LAUNCH_LAUNCH_H
#define BS_BACKEND_LAUNCH_LAUNCH_H

#include <boxspec/exec.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/mechanisms/landlock_abi.h"

/* Descriptors of pid 1 of a namespace, beside 0 to 2. */
enum {
    STATUS_FD = 3, /* struct status goes there */
    PROGRAM_FD,    /* its words and environment come from there when it may be started */
    STDIN_FD,      /* of the program, with the two behind it: whoever else holds them would keep */
    STDOUT_FD,     /* their other ends from seeing that the program closed its own */
    STDERR_FD,
    FILTER_FD, /* a seccomp program, or closed */
    SELF_FD,   /* this program */
    FIRST_FREE_FD
};

enum { MOST_FILTER_BYTES = 64 * 1024 };

/* What the outside is told. */
enum status_kind { STATUS_READY = 1, STATUS_FAILED, STATUS_STARTED, STATUS_ENDED };

struct status {
    enum status_kind kind;
    int wait_status;                  /* of STATUS_ENDED */
    struct bs_launch_failure failure; /* of STATUS_FAILED */
};

struct path_rule {
    uint64_t rights;
    const char *path;
};

/* What Landlock handles, and what of that is granted. It handles nothing: no ruleset. */
struct grants {
    struct bs_ll_ruleset handled;
    struct path_rule *paths;
    size_t n_paths;
    uint64_t *ports;
    size_t n_ports;
};

struct plan {
    char *text;      /* what the rest points into */
    bool namespaces; /* bubblewrap; else Landlock */
    char **args;     /* of bubblewrap, NULL-terminated */
    size_t n_args;
    const char *seal;   /* see BS_PLAN_SEAL; NULL: none */
    bool own_mounts;    /* see BS_PLAN_OWN */
    const char *filter; /* the same */
    struct grants grants;
};

/* RIGHTS and PATH of one grant; false when they are none. */
bool grant_parse(const char *rights, const char *path, struct path_rule *rule);

/* A number of rights, hexadecimal. */
bool rights_parse(const char *text, uint64_t *rights);

/* Everything stays allocated: the process ends soon. False with *failure filled. */
bool plan_read(const char *file, struct plan *plan, struct bs_launch_failure *failure);

/* Fills *failure and returns false. */
bool failed(struct bs_launch_failure *failure, enum bs_launch_step step, int os_error,
            const char *words);

struct program {
    char **argv;
    const char *cwd; /* NULL: where it is */
    char **envp;
    sigset_t mask;
};

/* What both ends of the launcher wait for. */
void block_signals(sigset_t *before);

/* Starts a child that shares this memory; the caller waits until it has executed a program or has
 * ended, so what the child writes is seen here. It must end by _exit. Its number, or -1: errno. */
pid_t start_child(int (*become)(void *ctx), void *ctx);

/* The program's streams on their way to it: sockets, or -1 where the child finds them as they are.
 * None of them is the program's, they are closed on exec. */
struct handover {
    int from; /* what the child reads them from */
    int to;
};

/* Sends `first` and the two behind it. Who closes its own before the child is started leaves nobody
 * but the program with them; let_go_of_handover is for when it has them. False: they stay as they
 * are, because nobody writes to `first`, or because it fails; the kernel lets no user have too many
 * on their way. */
bool hand_over(int first, struct handover *streams);
void let_go_of_handover(struct handover *streams);

/* In the child: puts them at 0 to 2, from wherever they are. False with errno. */
bool take_over(const struct handover *streams, int first);

/* Steps of a process on its way to the program, each for itself. */
bool keep_mounts(struct bs_launch_failure *failure);
bool seal(const char *words, struct bs_launch_failure *failure); /* see BS_PLAN_SEAL */
bool drop_privileges(struct bs_launch_failure *failure);
bool read_filter(int fd, void **filter, size_t *len, struct bs_launch_failure *failure);
bool apply_filter(const void *filter, size_t len, struct bs_launch_failure *failure);
bool apply_grants(const struct grants *grants, struct bs_launch_failure *failure);

/* As bs_close_from; false with errno. */
bool close_from(int first, bool on_exec);

/* Moves both above the numbers that pid 1 finds its own at, closed on exec. False with errno: one
 * is moved, or none. */
bool above_places(int ends[2]);

/* Puts /dev/null at 0 and 1, and at 2 where `err` says so. */
bool let_go_of_stdio(bool err);

/* Returns only when the program cannot be executed. */
void execute(const struct program *program, struct bs_launch_failure *failure);

void send_status(int fd, const struct status *status);

/* Descendants that were left: every child of the caller, of its group or of none. Since the caller
 * collects orphans, killing again and again reaches all of them. Gives up after a second. */
void kill_leftovers(bool also_in_group);

/* Whether anybody but the caller is alive in its group, which it has alone with its descendants;
 * true, too, where nobody could be looked for and there are descendants. */
bool group_may_have_others(void);

int outside(const struct plan *plan, struct program *program, bool reports, bool own_stdin);

struct inside {
    bool filtered;
    bool tells;       /* that the program was started, too */
    const char *seal; /* "": none */
    const char *mask; /* a digit for each signal */
    struct grants grants;
};

int inside(const struct inside *words, struct program *program);

#endif
