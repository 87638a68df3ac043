/* A running program whose streams the caller can use.
 *
 *   1. Fill a struct bs_exec_request (exec.h) with program, args, current_dir and env; the other
 *      fields are only for bs_exec_run, and bs_process_open refuses them. Set the streams in a
 *      struct bs_stdio.
 *   2. Call bs_process_open. If it returns 0, the child runs as leader of its own process group, as
 *      in a run. Any number of processes may run in one sandbox at once.
 *   3. Read and write: the handle owns the descriptors of piped streams until the caller takes them
 *      (bs_process_take).
 *   4. bs_process_wait waits for the end, bs_process_terminate and bs_process_kill signal the
 *      group, and bs_process_close ends it with a grace period. Output can be read after the end.
 *   5. In the end, call bs_process_drop once. It kills the members of the group that still run.
 *
 * The library buffers no bytes. It installs no signal handler, so a caller that writes to a child
 * must be prepared for SIGPIPE. A write(2) of more than PIPE_BUF bytes is not atomic: if several
 * threads write to one stdin, the caller holds a lock of its own during each message. The caller's
 * ends are close-on-exec, and blocking unless `nonblocking` is set.
 *
 * An orderly close. bs_process_close sends SIGTERM first and closes stdin last. For a server that
 * saves its state at end-of-file, close stdin (bs_process_close_stream), wait with a limit
 * (bs_process_wait), and then call bs_process_close.
 *
 * The end of a group. When the leader has ended, the library kills the rest of its group and then
 * reaps the leader. Until then signals reach the group, because the kernel does not give the number
 * of a zombie to another process. Afterwards bs_process_terminate and bs_process_kill have no
 * effect and return 0. A process that left the group is not signalled.
 *
 * A terminal as inherited stdin. If stdin is the caller's controlling terminal, the program gets it
 * as in a run (exec.h), until a wait, a close or a drop finds that the program has ended. If
 * SIGTTIN or SIGTTOU stops the program for good, the next wait kills it and returns this signal as
 * its end.
 *
 * Threads. Any number of threads may use one handle at once, except for open and drop. But if one
 * thread may close a stream while another reads or writes it, the other takes the stream first
 * (bs_process_take) or uses a duplicate: after the close, the number of the descriptor may belong
 * to another file. A signal that one thread sends wakes a wait of another. Drop waits for calls
 * that have begun; no call may begin after it. The thread that opened the process may end; the
 * child continues. Do not reap children with waitpid(-1).
 *
 * Rules come from the process contract, conformance/contracts/process/page.md. */
#ifndef BOXSPEC_PROCESS_H
#define BOXSPEC_PROCESS_H

#include <sys/types.h>

#include <boxspec/exec.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BS_PROCESS_GRACE_MS 5000 /* time between SIGTERM and SIGKILL when a process is closed */
/* the same time for a bridge; shorter, because clients of a bridge wait only 2 s */
#define BS_BRIDGE_GRACE_MS 1500

enum bs_stdio_mode { BS_STDIO_INHERIT = 0, BS_STDIO_PIPED = 1, BS_STDIO_NULL = 2 };

struct bs_stdio {
    enum bs_stdio_mode in;
    enum bs_stdio_mode out;
    enum bs_stdio_mode err;
    bool nonblocking; /* the caller's ends of the pipes are non-blocking */
};

struct bs_process;

enum bs_process_state { BS_PROCESS_RUNS = 0, BS_PROCESS_EXITED, BS_PROCESS_SIGNALED };

struct bs_process_end {
    enum bs_process_state state;
    int number; /* exit status or signal number; 0 while the program runs */
};

/* Start the program. `sandbox` may be NULL. Returns 0 with a handle in *process. Otherwise *process
 * is NULL and no child is left. The code is then BS_E_INVALID for a mode or a field that a process
 * does not have; BS_E_EXECUTION for a failed spawn ("failed to spawn `P`: ...") and for a caller
 * that ignores SIGCHLD or set SA_NOCLDWAIT ("wait timeout error: ..."); or the sandbox's own code
 * if the sandbox refused. */
BS_EXPORT int bs_process_open(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                              const struct bs_sandbox *sandbox, struct bs_process **process,
                              struct bs_error *err);

BS_EXPORT pid_t bs_process_pid(const struct bs_process *process);

/* Return the handle's descriptor of stream 0, 1 or 2; -1 if it is not piped, was taken or is
 * closed. */
BS_EXPORT int bs_process_stream(struct bs_process *process, int stream);

/* As bs_process_stream, but the caller owns the descriptor from then on. A second call returns
 * -1. */
BS_EXPORT int bs_process_take(struct bs_process *process, int stream);

/* Close a stream that the handle still owns. If it is stdin, the child reads end-of-file. */
BS_EXPORT void bs_process_close_stream(struct bs_process *process, int stream);

/* Wait for the end. If timeout_ms is NULL, there is no limit, and stdin is closed first if the
 * handle still owns it. A limit of 0 ms never blocks. If the leader has ended, the rest of the
 * group is killed; with a limit other than 0 the call then waits up to BS_EXEC_TICK_MS longer for
 * the killed members. As long as the leader or a member lives, *end says that the process runs.
 * Returns 0, or BS_E_EXECUTION ("wait error: ...") if another part of the program reaped the
 * child. */
BS_EXPORT int bs_process_wait(struct bs_process *process, const uint64_t *timeout_ms,
                              struct bs_process_end *end, struct bs_error *err);

/* Send SIGTERM or SIGKILL to the group. Returns 0, or BS_E_EXECUTION if the system refuses to send
 * the signal. */
BS_EXPORT int bs_process_terminate(struct bs_process *process, struct bs_error *err);
BS_EXPORT int bs_process_kill(struct bs_process *process, struct bs_error *err);

/* End the group: send SIGTERM and SIGCONT, wait up to grace_ms, send SIGKILL, reap, and close the
 * streams that the handle owns. A second call only fills *end again. *detached_writers (may be
 * NULL) becomes true if a process still holds an output pipe after the end of the group; only pipes
 * that the handle owns are checked. Returns as bs_process_wait does. */
BS_EXPORT int bs_process_close(struct bs_process *process, uint64_t grace_ms,
                               struct bs_process_end *end, bool *detached_writers,
                               struct bs_error *err);

/* Send SIGKILL, reap, close the streams that the handle owns, and free the handle. Takes at most
 * BS_EXEC_KILL_MS. NULL is ignored. */
BS_EXPORT void bs_process_drop(struct bs_process *process);

/* Run a program and connect its streams to the descriptors 0, 1 and 2 of the caller: the program
 * reads what arrives on 0, and its outputs go to 1 and 2. The flags of the three descriptors are
 * not changed. When descriptor 0 ends, the program's stdin is closed. If the caller receives SIGINT
 * or SIGTERM, the group gets SIGTERM, and SIGKILL BS_BRIDGE_GRACE_MS later. The call returns when
 * the group has ended and its output has been passed on, or after BS_EXEC_LINGER_MS if the output
 * is not read. A watcher process, in a group of its own, kills the program's group if the caller
 * dies for any reason. Returns as bs_process_open and bs_process_wait do, and BS_E_EXECUTION if
 * bytes could not be read or written; it is no error if the reader has closed its end. Only one
 * thread may call it at a time, and no other thread may fork during the call. */
BS_EXPORT int bs_process_bridge(const struct bs_exec_request *request,
                                const struct bs_sandbox *sandbox, struct bs_process_end *end,
                                struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
