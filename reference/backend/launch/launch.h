/* The launcher: a small static program that confines a program and starts it.
 *
 * boxspec-launch --plan FILE [--chdir DIR] [--report] [--own-stdin] -- PROGRAM [ARGUMENT...]
 *
 * The launcher itself runs outside the sandbox (outside.c). It leads the process group, closes all
 * descriptors above 2 and waits for the program. If descriptor 0 is a file or a shared pipe, it
 * passes the bytes to the program through another pipe. It ends as the program ends: by the same
 * signal or with the same exit status.
 *
 * Under Landlock the child of the launcher is the program. Under bubblewrap the launcher runs a
 * second time, as pid 1 of the namespace (inside.c). This second process forwards SIGINT, SIGTERM
 * and SIGCONT to every process in the namespace and gives them the grace period; bubblewrap does
 * neither.
 *
 * The launcher is linked statically. Otherwise variables such as LD_PRELOAD in the program's
 * environment would have an effect before the program is confined. For the same reason bubblewrap
 * gets an empty environment.
 *
 * Both processes block their signals and read them one at a time, so no signal is lost. Only while
 * the child is being made (start.c), the launcher has handlers for SIGINT and SIGTERM. The program
 * gets the signal mask of the caller. */
#ifndef BS_BACKEND_LAUNCH_LAUNCH_H
#define BS_BACKEND_LAUNCH_LAUNCH_H

#include <boxspec/exec.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/mechanisms/landlock_abi.h"
#include "base/buf.h"

/* The descriptors above 2 that pid 1 of a namespace has at its start. */
enum {
    STATUS_FD = 3, /* pid 1 writes struct status to it */
    /* pid 1 reads the program's arguments and environment from it, once the program may start */
    PROGRAM_FD,
    /* The three streams of the program. Pid 1 closes its copies before the program starts. */
    STDIN_FD,
    STDOUT_FD,
    STDERR_FD,
    FILTER_FD, /* a file with a seccomp program; closed if there is no filter */
    SELF_FD,   /* the executable of the launcher */
    FIRST_FREE_FD
};

enum { MOST_FILTER_BYTES = 64 * 1024 };

/* Kinds of the messages that pid 1 sends to the launcher. */
enum status_kind { STATUS_READY = 1, STATUS_FAILED, STATUS_STARTED, STATUS_ENDED };

struct status {
    enum status_kind kind;
    int wait_status;                  /* for STATUS_ENDED */
    unsigned killed_outputs;          /* for STATUS_ENDED: see struct outputs */
    struct bs_launch_failure failure; /* for STATUS_FAILED */
};

struct path_rule {
    uint64_t rights;
    const char *path;
};

/* A Landlock ruleset: the access rights that it restricts, and the paths on which it grants them.
 * If it would restrict no right, no ruleset is made. */
struct grants {
    struct bs_ll_ruleset handled;
    struct path_rule *paths;
    size_t n_paths;
    uint64_t *ports;
    size_t n_ports;
};

/* A value of BS_PLAN_CHECKED. */
struct checked {
    const char *dir;
    size_t from; /* number of words of bubblewrap's command line before it */
};

struct plan {
    char *text;      /* the content of the plan file; the pointers below point into it */
    bool namespaces; /* true for bubblewrap, false for Landlock */
    char **args;     /* the command line of bubblewrap, NULL-terminated */
    size_t n_args;
    const char *read_only_proc; /* value of BS_PLAN_SEAL; may be NULL */
    bool own_mounts;            /* BS_PLAN_OWN was given */
    struct checked *checked;
    size_t n_checked;
    const char *filter; /* path of a seccomp program; may be NULL */
    struct grants grants;
};

/* Parse the texts RIGHTS and PATH of one grant. Returns false if they are malformed. */
bool grant_parse(const char *rights, const char *path, struct path_rule *rule);

/* Parse a set of access rights, written as a hexadecimal number. */
bool rights_parse(const char *text, uint64_t *rights);

/* Read a plan. Its memory is never freed, because the process ends soon. Returns false with
 * *failure filled. */
bool plan_read(const char *file, struct plan *plan, struct bs_launch_failure *failure);

/* Fill *failure and return false. */
bool set_failure(struct bs_launch_failure *failure, enum bs_launch_step step, int os_error,
                 const char *words);

struct program {
    char **argv;
    const char *cwd; /* NULL: the working directory of the launcher */
    char **envp;
    sigset_t mask;
    /* texts of planned_mounts_describe, only in pid 1; NULL-terminated */
    char **mounts;
};

/* Block the signals that the launcher and pid 1 wait for. *before becomes the previous mask. */
void block_signals(sigset_t *before);

/* Start a child that shares the memory of the caller. The caller is suspended until the child has
 * executed a program or ended, and then sees all that the child wrote to memory. `run` must end by
 * _exit. Returns the pid, or -1 with errno. */
pid_t start_child(int (*run)(void *ctx), void *ctx);

/* A socket pair through which the child receives the program's three streams. Both are -1 if the
 * child inherits the streams directly. The sockets are close-on-exec, so the program gets neither
 * of them. */
struct stream_queue {
    int from; /* the child receives the streams here */
    int to;
};

/* Put the descriptors `first` to `first` + 2 into a socket. After the caller has closed its copies,
 * only the program will hold them. Returns false, with the descriptors unchanged, if `first` is not
 * a pipe or socket, or if the kernel refuses, because it limits the number of descriptors in
 * sockets per user. */
bool stream_queue_send(int first, struct stream_queue *queue);
void stream_queue_close(struct stream_queue *queue);

/* Called in the child. Move the streams to descriptors 0 to 2. They come from the queue, or from
 * `first` to `first` + 2 if there is no queue. Returns false with errno. */
bool stream_queue_receive(const struct stream_queue *queue, int first);

/* Confinement steps that a process takes before it executes the program. The steps do not depend on
 * each other. */
bool refuse_mount_events(struct bs_launch_failure *failure);
/* `setting` is the value of BS_PLAN_SEAL. */
bool make_proc_read_only(const char *setting, struct bs_launch_failure *failure);
/* Append a NUL-terminated text for each mount that pid 1 checks, and set *n to their number. Called
 * outside, after bubblewrap has made the mounts. Returns false if memory ran out. */
bool planned_mounts_describe(const struct plan *plan, struct bs_buf *out, size_t *n);
/* Called by pid 1, with a text of planned_mounts_describe. */
bool planned_mounts_check(const char *text, struct bs_launch_failure *failure);
bool drop_privileges(struct bs_launch_failure *failure);
bool read_filter(int fd, void **filter, size_t *len, struct bs_launch_failure *failure);
bool apply_filter(const void *filter, size_t len, struct bs_launch_failure *failure);
bool apply_grants(const struct grants *grants, struct bs_launch_failure *failure);

/* As bs_close_from, but returns false with errno. */
bool close_from(int first, bool on_exec);

/* Move both descriptors to FIRST_FREE_FD or above, close-on-exec. Returns false with errno; one of
 * them may have been moved then. */
bool move_above_fixed(int ends[2]);

/* Make descriptors 0 and 1, and with `err` also 2, refer to /dev/null. */
bool replace_stdio(bool err);

/* Execute the program. Returns only if that fails. */
void execute(const struct program *program, struct bs_launch_failure *failure);

void send_status(int fd, const struct status *status);

/* The pipes and sockets that are the program's standard output and standard error. If the launcher
 * kills a process that has one of them open, output may be lost, so the launcher reports it to the
 * caller. A set of outputs is a sum of values of enum bs_stream. */
struct outputs {
    struct output {
        enum bs_stream stream;
        dev_t device;
        ino_t inode;
        int pipe; /* a descriptor with O_PATH, which counts neither as reader nor as writer; or -1
                   */
    } list[2];
    size_t n;
};

/* Add the files of both descriptors. Files that are neither a pipe nor a socket are left out. The
 * descriptors for them stay open until the caller ends. */
void outputs_note(struct outputs *outputs, int out, int err);

/* Return the outputs that the process has open. A process can hide its descriptors (it is not
 * dumpable, for example). Then the result has each output that may have a writer: data that is
 * perhaps lost must not look complete. */
unsigned outputs_held_by(const struct outputs *outputs, pid_t pid);

/* Return the outputs that may have a writer. The caller must have closed its own copies. */
unsigned outputs_with_writer(const struct outputs *outputs);

/* Kill leftover processes: all children of the caller, or without `also_in_group` only those
 * outside its process group. The caller is a subreaper, so orphans become its children, and
 * repeated kills with `also_in_group` reach every descendant. Gives up after BS_EXEC_KILL_MS.
 * Returns the outputs that killed processes held. */
unsigned kill_leftover_processes(bool also_in_group, const struct outputs *outputs);

/* Return the outputs that processes other than the caller hold. */
unsigned outputs_held(const struct outputs *outputs);

/* True if another process of the caller's group is alive. All other members of the group are
 * descendants of the caller. So if /proc cannot be read, the result is true if the caller has any
 * descendant. */
bool group_may_have_others(void);

int run_outside(const struct plan *plan, struct program *program, bool reports, bool own_stdin);

struct inside_options {
    bool filtered;
    bool reports_start;         /* also send STATUS_STARTED */
    const char *read_only_proc; /* value of BS_PLAN_SEAL; "" leaves /proc writable */
    const char *mask; /* one digit per signal: '1' if the program starts with this signal blocked */
    struct grants grants;
};

int run_inside(const struct inside_options *options, struct program *program);

#endif
