/* The launcher: a small static program that confines a program and starts it.
 *
 *   boxspec-launch --plan FILE [--chdir DIR] [--report] [--own-stdin] -- PROGRAM [ARGUMENT...]
 *
 * The launcher itself runs outside the sandbox (outside.c). It leads the process group, closes all
 * descriptors above 2, relays a file or a shared pipe at 0 to the program through a pipe, and waits
 * for the program. It ends as the program ends: by the same signal or with the same exit status.
 *
 * Under Landlock the launcher's child is the program. Under bubblewrap the launcher runs a second
 * time as pid 1 of the namespace (inside.c). Pid 1 forwards SIGINT, SIGTERM and SIGCONT to every
 * process in the namespace and gives them the grace period, which bubblewrap does not.
 *
 * The launcher is linked statically, because LD_PRELOAD and the like in the program's environment
 * must have no effect before the program is confined. bubblewrap gets an empty environment for the
 * same reason.
 *
 * Both processes block their signals and read them one at a time, so no signal is lost. Only while
 * the child is being made (start.c), the launcher has handlers for SIGINT and SIGTERM. The program
 * gets the signal mask of the caller.
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

/* Descriptors above 2 that pid 1 of a namespace has. */
enum {
    STATUS_FD = 3, /* pid 1 writes struct status to it */
    PROGRAM_FD,    /* the program's arguments and environment arrive here when it may start */
    STDIN_FD,      /* the program's streams; pid 1 closes its copies before the program starts */
    STDOUT_FD,
    STDERR_FD,
    FILTER_FD, /* a seccomp program, or closed */
    SELF_FD,   /* the launcher's own executable */
    FIRST_FREE_FD
};

enum { MOST_FILTER_BYTES = 64 * 1024 };

/* Reports of pid 1 to the launcher outside. */
enum status_kind { STATUS_READY = 1, STATUS_FAILED, STATUS_STARTED, STATUS_ENDED };

struct status {
    enum status_kind kind;
    int wait_status;                  /* with STATUS_ENDED */
    struct bs_launch_failure failure; /* with STATUS_FAILED */
};

struct path_rule {
    uint64_t rights;
    const char *path;
};

/* The access rights that Landlock handles, and the grants among them. If no right is handled, no
 * ruleset is made. */
struct grants {
    struct bs_ll_ruleset handled;
    struct path_rule *paths;
    size_t n_paths;
    uint64_t *ports;
    size_t n_ports;
};

struct plan {
    char *text;      /* the pointers below point into it */
    bool namespaces; /* true: bubblewrap; false: Landlock */
    char **args;     /* the command of bubblewrap, NULL-terminated */
    size_t n_args;
    const char *read_only_proc; /* see BS_PLAN_SEAL; may be NULL */
    bool own_mounts;            /* see BS_PLAN_OWN */
    const char *filter;         /* path of a seccomp program; may be NULL */
    struct grants grants;
};

/* Parse RIGHTS and PATH of one grant. Returns false if they are malformed. */
bool grant_parse(const char *rights, const char *path, struct path_rule *rule);

/* Parse a hexadecimal set of access rights. */
bool rights_parse(const char *text, uint64_t *rights);

/* Read a plan. Its memory is never freed, because the process ends soon. Returns false with
 * *failure filled. */
bool plan_read(const char *file, struct plan *plan, struct bs_launch_failure *failure);

/* Fill *failure and return false. */
bool set_failure(struct bs_launch_failure *failure, enum bs_launch_step step, int os_error,
                 const char *words);

struct program {
    char **argv;
    const char *cwd; /* NULL: the launcher's own */
    char **envp;
    sigset_t mask;
};

/* Block the signals that the launcher and pid 1 wait for. *before is the mask until now. */
void block_signals(sigset_t *before);

/* Start a child that shares the memory of the caller, which waits until the child has executed a
 * program or has ended: the caller sees all that the child wrote. `run` must end by _exit. Returns
 * the pid, or -1 with errno. */
pid_t start_child(int (*run)(void *ctx), void *ctx);

/* A socket pair with the program's three streams queued in it, or -1 and -1 if the child inherits
 * them directly. Both sockets are close-on-exec, so the program gets neither. */
struct stream_queue {
    int from; /* the child receives the streams here */
    int to;
};

/* Queue the descriptors `first` to `first` + 2 in a socket. Once the caller closes its copies, only
 * the program holds them. Returns false, with the descriptors unchanged, if `first` is no pipe or
 * socket, or if it fails: the kernel limits the descriptors in flight per user. */
bool stream_queue_send(int first, struct stream_queue *queue);
void stream_queue_close(struct stream_queue *queue);

/* In the child: make the streams descriptors 0 to 2, from the queue or, without one, from `first`
 * to `first` + 2. Returns false with errno. */
bool stream_queue_receive(const struct stream_queue *queue, int first);

/* Confinement steps of a process before it executes the program; each works without the others. */
bool refuse_mount_events(struct bs_launch_failure *failure);
/* `setting` is the value of BS_PLAN_SEAL. */
bool make_proc_read_only(const char *setting, struct bs_launch_failure *failure);
bool drop_privileges(struct bs_launch_failure *failure);
bool read_filter(int fd, void **filter, size_t *len, struct bs_launch_failure *failure);
bool apply_filter(const void *filter, size_t len, struct bs_launch_failure *failure);
bool apply_grants(const struct grants *grants, struct bs_launch_failure *failure);

/* As bs_close_from. Returns false with errno. */
bool close_from(int first, bool on_exec);

/* Move both to FIRST_FREE_FD or above, close-on-exec. Returns false with errno; one of them may
 * have moved. */
bool move_above_fixed(int ends[2]);

/* Make 0 and 1 /dev/null, and 2 if `err` is true. */
bool replace_stdio(bool err);

/* Execute the program. Returns only if that fails. */
void execute(const struct program *program, struct bs_launch_failure *failure);

void send_status(int fd, const struct status *status);

/* Kill the descendants that are left: the children of the caller outside its process group, or,
 * with `also_in_group`, all of them. The caller is a subreaper, so with `also_in_group` repeated
 * kills reach every descendant. Gives up after BS_EXEC_KILL_MS. */
void kill_leftover_processes(bool also_in_group);

/* True if another process of the caller's group is alive. Only descendants of the caller are in
 * that group. If /proc cannot be read: true if the caller has any descendant. */
bool group_may_have_others(void);

int run_outside(const struct plan *plan, struct program *program, bool reports, bool own_stdin);

struct inside_options {
    bool filtered;
    bool reports_start;         /* send STATUS_STARTED as well */
    const char *read_only_proc; /* "": /proc stays writable */
    const char *mask;           /* a digit per signal: '1' if the program has it blocked */
    struct grants grants;
};

int run_inside(const struct inside_options *options, struct program *program);

#endif
