/* Sandbox backends: what confines a program, and what of it is true on this host.
 *
 *   1. Fill a struct bs_backend_context from BS_BACKEND_CONTEXT_INIT: the workspace, what is asked
 *      (an enum bs_confine), perhaps a policy.
 *   2. bs_backend_find, or a struct bs_backend of your own.
 *   3. bs_session_open. It probes the backend, prepares it, and decides on both reports: prepare
 * may find rules that do not hold in this workspace. 0: the session is open, and
 *      bs_session_enforcement says what holds; under BS_DEGRADE it may run without a backend.
 *      Negative: nothing was started and nothing is left.
 *   4. bs_session_run for each program.
 *      SIGINT and SIGTERM belong to the library while a session is opened; one that came then is
 *      the result of every run of it, and nothing is started.
 *   5. bs_session_scan, if the policy has rules that the backend does not enforce.
 *   6. bs_session_close. It shuts the backend down, once, whatever came before.
 *
 * bs_backend_probe alone answers what would hold, without a workspace.
 *
 * What runs inside. The program is started by a launcher, boxspec-launch, which leads the process
 * group and a session of its own; so a program has no controlling terminal, nothing open above 2,
 * no capabilities and no_new_privs. Deadlines, signals, grace and the end of the group are as
 * boxspec/exec.h has them, and a program that cannot be started is the same error. A regular file
 * or a pipe that the caller has as stdin comes as another pipe, since both could be opened anew for
 * writing; what the program has not read of it may be lost to the caller. A directory is refused.
 * When the program has ended, nothing that it started lives on, whatever group it moved to. Under
 * Landlock that is the launcher's doing: where SIGKILL ends the whole group at once (an output cap,
 * a second signal), a process that left the group lives on. A namespace ends with all that is in
 * it.
 *
 * Its environment: the pairs of BS_ENV_CLEAR_AND_SET as they are; with BS_ENV_INHERIT only PATH,
 * HOME, USER, LOGNAME, SHELL, TMPDIR, TZ, LANG, LANGUAGE and LC_ with a category. What the backend
 * adds comes after that and wins: TMPDIR is a private directory, always.
 *
 * It starts in `cwd`, else in the root. current_dir of a request is another name for cwd.
 *
 * Threads. Nothing is global: sessions of several threads do not know each other. One session may
 * be used by one thread at a time, bs_session_run excepted: any number of threads may be in it at
 * once. Probe and prepare run on a thread of their own and are cancelled after BS_BACKEND_OPEN_MS.
 * All times are in milliseconds.
 *
 * Ownership. A context and what it points to stay the caller's and must outlive the session. What a
 * report points to is the report's until bs_backend_report_clear.
 *
 * Rules come from the backend contract, conformance/contracts/backend/page.md; the ids there
 * (BACKEND-...) name them.
 */
#ifndef BOXSPEC_BACKEND_H
#define BOXSPEC_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/bytes.h>
#include <boxspec/error.h>
#include <boxspec/exec.h>
#include <boxspec/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How long probe and prepare may take together before they are cancelled. */
#define BS_BACKEND_OPEN_MS 9000

/* What is asked of a sandbox. Outside processes are out of reach in all of them. */
enum bs_confine {
    BS_CONFINE_READ_ONLY,  /* writes: a private scratch alone; network open */
    BS_CONFINE_REPO_WRITE, /* writes: the workspace; network open */
    BS_CONFINE_NO_NETWORK, /* writes: the workspace; no network */
    BS_CONFINE_FULL_DEV,   /* writes: the workspace and HOME/.cache; network open */
    BS_CONFINE_CI_ONLY     /* writes: the workspace; no network; nothing of the host's processes */
};

enum bs_aspect {
    BS_ASPECT_FS_WRITE,
    BS_ASPECT_FS_READ, /* what a policy denies to read */
    BS_ASPECT_FS_METADATA,
    BS_ASPECT_NETWORK,
    BS_ASPECT_PROCESS,
    BS_ASPECT_IPC,
    BS_ASPECT_LIMITS,
    BS_ASPECT_KERNEL, /* system calls that widen the kernel's surface */
    BS_ASPECTS
};

enum bs_claim { BS_NOT_REQUESTED, BS_CLAIM_FULLY, BS_CLAIM_PARTIAL, BS_CLAIM_UNAVAILABLE };

/* Of a whole backend, and of a session, where BS_CLAIM_UNAVAILABLE means that nothing holds. */
BS_EXPORT const char *bs_confine_name(enum bs_confine confine); /* "repo-write"; static */
BS_EXPORT bool bs_confine_parse(const char *name, enum bs_confine *confine);
BS_EXPORT const char *bs_aspect_name(enum bs_aspect aspect);
BS_EXPORT const char *bs_claim_name(enum bs_claim claim);

/* A policy by its texts, for it is one per profile and per workspace. */
struct bs_backend_policy {
    struct bs_policy_text global;
    struct bs_policy_text workspace;
    bool has_workspace;
    const char *profile; /* NULL: BS_UNRESTRICTED */
};

struct bs_profile; /* boxspec/profile.h */

struct bs_backend_context {
    const char *root; /* absolute path of an existing directory; links are resolved */
    const char *cwd;  /* NULL: the root; else an absolute path inside of it */
    enum bs_confine confine;
    const struct bs_backend_policy *policy; /* NULL: `confine` alone decides */
    /* `host:port`, `[address]:port` or `*`; not beside a confine without network. */
    const char *const *egress;
    size_t n_egress;
    /* Landlock with seccomp: refuse every change of mode, owner, times and attributes, inside the
     * workspace too; no other mechanism of Landlock can refuse it outside. Breaks cp -p, tar, gcc.
     */
    bool strict_metadata;
    const char *launcher; /* path of boxspec-launch; NULL: looked for beside the program and the
                           * library, and in ../libexec/boxspec */
    /* Absolute paths that stay readable, also below a directory that is private inside. */
    const char *const *readable;
    size_t n_readable;
    /* Consent: a rule that fails only for names which do not exist at the start does not make its
     * aspect partial. It is still named in the report, and a scan finds what broke it. */
    bool accept_late_names;
    /* For backends: `policy` compiled, or NULL without a policy. The library sets it in the context
     * that it passes to probe and prepare; callers leave it NULL. */
    const struct bs_profile *profile;
};

#define BS_BACKEND_CONTEXT_INIT                                                                    \
    { 0, 0, BS_CONFINE_REPO_WRITE, 0, 0, 0, false, 0, 0, 0, false, 0 }

struct bs_unenforced {
    const char *pointer; /* RFC 6901, into the policy; NULL where it has no place in a file */
    const char *rule;
    const char *why;
};

struct bs_aspect_claim {
    enum bs_claim claim;
    const char **reasons; /* what is missing; at least one with PARTIAL and UNAVAILABLE */
    size_t n_reasons;
};

struct bs_violation {
    const char *path; /* absolute; bytes */
    const char *rule; /* that denies it and is not enforced */
};

/* Starts as BS_BACKEND_REPORT_INIT, ends with bs_backend_report_clear, any number of times. */
struct bs_backend_report {
    enum bs_claim overall; /* never BS_NOT_REQUESTED */
    struct bs_aspect_claim aspects[BS_ASPECTS];
    struct bs_unenforced *unenforced;
    size_t n_unenforced;
    const char **warnings;
    size_t n_warnings;
    /* Absolute paths of files in the workspace that have names elsewhere, and of those that a
     * policy denies under one name and allows under another, where the backend holds no file under
     * all. */
    const char **hard_links;
    size_t n_hard_links;
    struct bs_violation *violations; /* of bs_session_scan */
    size_t n_violations;
    struct bs_arena *arena;
};

#define BS_BACKEND_REPORT_INIT                                                                     \
    { BS_CLAIM_UNAVAILABLE, {{BS_NOT_REQUESTED, 0, 0}}, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

BS_EXPORT void bs_backend_report_clear(struct bs_backend_report *report);

/* For a backend of your own: what it adds is copied. False when memory ran out. */
BS_EXPORT bool bs_report_claim(struct bs_backend_report *report, enum bs_aspect aspect,
                               enum bs_claim claim);
BS_EXPORT bool bs_report_reason(struct bs_backend_report *report, enum bs_aspect aspect,
                                enum bs_claim claim, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether an aspect counts for the overall claim; `denies_reading` is about the policy. */
BS_EXPORT bool bs_context_requests(const struct bs_backend_context *context, enum bs_aspect aspect,
                                   bool denies_reading);

/* Sets `overall` from the claims. */
BS_EXPORT void bs_report_conclude(struct bs_backend_report *report,
                                  const struct bs_backend_context *context, bool denies_reading);

/* A backend. Each function gets the `ctx` of the struct, and returns 0, or a negative code with
 * *err filled. `cancel` becomes readable when nobody waits any more: return then. A probe or
 * prepare that has not returned a second later is given up, and its thread goes on: with a context
 * of its own, and with `ctx`, which must live as long; what its prepare made it shuts down itself.
 */
struct bs_backend {
    const char *name;
    const char *mechanism; /* in words: "namespaces+seccomp" */
    void *ctx;
    /* What would hold; context->root may be NULL. Has a positive control: what cannot start
     * anything is BS_CLAIM_UNAVAILABLE. Leaves nothing behind. */
    int (*probe)(void *ctx, const struct bs_backend_context *context, int cancel,
                 struct bs_backend_report *report, struct bs_error *err);
    /* Makes what the session needs, as *state. Adds to the report what it found in the workspace:
     * an aspect that it reports as partial makes the session partial. context->root and
     * context->cwd are canonical. On failure, too, *state may be set. */
    int (*prepare)(void *ctx, const struct bs_backend_context *context, int cancel, void **state,
                   struct bs_backend_report *report, struct bs_error *err);
    /* Cheap, without side effects; any thread. What *out points to lives until the run is over and
     * is freed by `unwrap`. */
    int (*wrap)(void *ctx, void *state, const struct bs_exec_request *request, const char *cwd,
                struct bs_wrapped *out, struct bs_error *err);
    void (*unwrap)(void *ctx, void *state, struct bs_wrapped *wrapped); /* may be NULL */
    /* Adds violations to the report. May be NULL. */
    int (*scan)(void *ctx, void *state, struct bs_backend_report *report, struct bs_error *err);
    /* Removes what prepare made; *state may be NULL. Best effort. */
    int (*shutdown)(void *ctx, void *state, struct bs_error *err);
};

/* Those that this library has: none, landlock, landlock+seccomp, bubblewrap, bubblewrap+seccomp.
 * The last has a ruleset of Landlock as well, because a read-only mount lets everybody write to a
 * named pipe; where the kernel lacks it (before 5.19), `ipc` is partial. What others wrote to a
 * pipe outside can be read under each of them, like every file.
 * NULL behind the last, and for a name that is none of them. Static. */
BS_EXPORT const struct bs_backend *bs_backend_at(size_t index);
BS_EXPORT const struct bs_backend *bs_backend_find(const char *name);

/* What would hold of `confine`, policy and egress; root and cwd of the context are not looked at.
 * Takes at most BS_BACKEND_OPEN_MS and a moment. `cancel` is a descriptor or -1. 0;
 * BS_E_INVALID for an entry of egress or a policy that is wrong; BS_E_EXECUTION when the backend
 * failed or did not answer. */
BS_EXPORT int bs_backend_probe(const struct bs_backend *backend,
                               const struct bs_backend_context *context, int cancel,
                               struct bs_backend_report *report, struct bs_error *err);

enum bs_on_unavailable {
    BS_REFUSE, /* anything but fully is no session */
    BS_DEGRADE /* partial stays; what is unavailable is left away, with a warning */
};

/* What was called, in order: "probe", "prepare", "wrap", "run", "shutdown"; for those who want to
 * see. Everything is borrowed for the call. `report` is what a probe answered, `wrapped` what a
 * wrap gave; both are NULL otherwise, and `message` where the call succeeded. Called on the thread
 * that uses the session. */
struct bs_session_log {
    void *ctx;
    void (*called)(void *ctx, const char *call, int code, const char *message,
                   const struct bs_backend_report *report, const struct bs_wrapped *wrapped);
};

struct bs_session;

/* 0; BS_E_INVALID for a context that is wrong in itself; BS_E_DENIED when the session is refused;
 * BS_E_EXECUTION when memory ran out. The report is filled as far as it is known in all of these
 * cases. `log` may be NULL. */
BS_EXPORT int bs_session_open(const struct bs_backend *backend,
                              const struct bs_backend_context *context,
                              enum bs_on_unavailable on_unavailable,
                              const struct bs_session_log *log, struct bs_session **session,
                              struct bs_backend_report *report, struct bs_error *err);

/* BS_CLAIM_UNAVAILABLE: there is no backend, programs run as they are. */
BS_EXPORT enum bs_claim bs_session_enforcement(const struct bs_session *session);

/* BS_E_INVALID when the current_dir of a request is not where this context starts programs, or
 * lies outside of its root; 0, also for one that does not exist. */
BS_EXPORT int bs_context_check_dir(const struct bs_backend_context *context, const char *dir,
                                   struct bs_error *err);

/* bs_exec_run inside the session; request->sandbox must be NULL. */
BS_EXPORT int bs_session_run(struct bs_session *session, const struct bs_exec_request *request,
                             struct bs_exec_result *result, struct bs_error *err);

/* The session as a sandbox, for bs_process_open and bs_process_bridge, whose requests are to have
 * bs_session_cwd as current_dir. The session stays open until what they started has ended. A
 * session that has no backend wraps nothing. */
BS_EXPORT struct bs_sandbox bs_session_sandbox(struct bs_session *session);

/* Where programs start: the cwd of its context, else the root, without links. The session's. */
BS_EXPORT const char *bs_session_cwd(const struct bs_session *session);

/* A session that opens on first use. If the context names a root, it is opened at once. Otherwise
 * the first request opens it, with its own current_dir as root and cwd and with its own readable
 * paths: bs_module_execute makes the directory that it runs a module in. One thread until it is
 * open. */
struct bs_lazy_session;

/* Returns what bs_session_open does. *lazy belongs to the caller, who closes it whatever is
 * returned; it is NULL only if memory ran out. The arguments, and what they point to, must outlive
 * it. `log` may be NULL. */
BS_EXPORT int bs_lazy_session_open(const struct bs_backend *backend,
                                   const struct bs_backend_context *context,
                                   enum bs_on_unavailable on_unavailable,
                                   const struct bs_session_log *log, struct bs_lazy_session **lazy,
                                   struct bs_error *err);

/* Valid as long as `lazy`; NULL for NULL. Its validate returns what bs_session_open does. */
BS_EXPORT const struct bs_sandbox *bs_lazy_session_sandbox(const struct bs_lazy_session *lazy);

/* The session, or NULL if it is not open. */
BS_EXPORT struct bs_session *bs_lazy_session_opened(const struct bs_lazy_session *lazy);

/* The report of the last attempt to open it; empty before that, and for NULL. */
BS_EXPORT const struct bs_backend_report *
bs_lazy_session_report(const struct bs_lazy_session *lazy);

/* Closes the session too and returns what shutdown returned. NULL is nothing to close. */
BS_EXPORT int bs_lazy_session_close(struct bs_lazy_session *lazy, struct bs_error *err);

/* Wraps a request for the session's log to see, and runs nothing. */
BS_EXPORT int bs_session_explain(struct bs_session *session, const struct bs_exec_request *request,
                                 struct bs_error *err);

/* Looks for what happened to paths that a rule denies and the backend does not hold. */
BS_EXPORT int bs_session_scan(struct bs_session *session, struct bs_backend_report *report,
                              struct bs_error *err);

/* Returns what shutdown returned. NULL is nothing to close. */
BS_EXPORT int bs_session_close(struct bs_session *session, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
