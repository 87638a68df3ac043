/* Sandbox backends: they confine programs, and report what they enforce on this host.
 *
 *   1. Fill a struct bs_backend_context from BS_BACKEND_CONTEXT_INIT: the workspace, the
 *      confinement (an enum bs_confine), and a policy if there is one.
 *   2. Choose a backend with bs_backend_find, or fill a struct bs_backend of your own.
 *   3. Call bs_session_open. It calls the backend's probe and prepare, and decides on both reports,
 *      because prepare may find rules that cannot be enforced in this workspace. If the call
 *      returns 0, the session is open and bs_session_enforcement returns how much is enforced;
 *      under BS_DEGRADE the session may run programs without a sandbox. If the call returns a
 *      negative code, no program was started and no file is left.
 *   4. Call bs_session_run for each program.
 *   5. Call bs_session_scan if the policy has rules that the backend does not enforce.
 *   6. Call bs_session_close, also after an error. It shuts the backend down.
 *
 * bs_backend_probe reports what a backend would enforce, without a workspace.
 *
 * Signals. While a session opens, the library handles SIGINT and SIGTERM. If one arrives, the
 * session starts no program, and each of its runs has this signal as its result.
 *
 * Programs. A launcher, boxspec-launch, starts the program and leads its process group, in a new
 * session. So the program has no controlling terminal, no open descriptor above 2, no capabilities,
 * and no_new_privs. Deadlines, signals, the grace period and the end of the group are as in
 * boxspec/exec.h, and a program that cannot be started causes the same error. If stdin of the
 * caller is a regular file or a pipe, the program gets a new pipe instead, because a program can
 * open its own stdin again for writing. If the program does not read the whole file, the caller's
 * next program reads the rest; the unread rest of a pipe may be lost. A directory as stdin is
 * refused. After the program has ended, no process that it started remains, in any process group.
 * Namespaces ensure this in all cases. Under Landlock the launcher kills these processes. But if
 * SIGKILL ends the whole group at once, with the launcher (output cap, second signal), a process
 * that has left the group remains.
 *
 * Environment. Under BS_ENV_CLEAR_AND_SET: the pairs of the request. Under BS_ENV_INHERIT: only
 * PATH, HOME, USER, LOGNAME, SHELL, TMPDIR, TZ, LANG, LANGUAGE and the LC_ categories. The
 * variables that the backend adds override the others. TMPDIR is always a private directory. Under
 * BS_DEGRADE, a program without a sandbox gets the same variables; the only difference is TMPDIR,
 * which is the caller's.
 *
 * Working directory: `cwd` of the context. If the context has no cwd: current_dir of the request,
 * otherwise the root. If a request has a current_dir and the context a cwd, both must be the same
 * directory.
 *
 * Threads. There is no global state: each thread may have sessions of its own. One session may be
 * used by one thread at a time, except for bs_session_run: any number of threads may call it at
 * once. Probe and prepare run on a thread of their own and are cancelled after BS_BACKEND_OPEN_MS.
 *
 * Units: times are in milliseconds.
 *
 * Ownership. The caller owns a context and all that it points to; they must outlive the session. A
 * report owns all that it points to, until bs_backend_report_clear.
 *
 * Rules come from the backend contract, conformance/contracts/backend/page.md; the ids there
 * (BACKEND-...) name them. */
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

/* Time limit of probe and prepare together. When it expires, the library cancels them. */
#define BS_BACKEND_OPEN_MS 9000

/* The requested confinement. Each value permits writes to a private TMPDIR and denies access to
 * processes outside. */
enum bs_confine {
    BS_CONFINE_READ_ONLY,  /* no other writes; network open */
    BS_CONFINE_REPO_WRITE, /* writes to the workspace; network open */
    BS_CONFINE_NO_NETWORK, /* writes to the workspace; no network */
    BS_CONFINE_FULL_DEV,   /* writes to the workspace and HOME/.cache; network open */
    BS_CONFINE_CI_ONLY     /* writes to the workspace; no network; no IPC with the host */
};

/* The aspects of a sandbox that a backend makes claims about. */
enum bs_aspect {
    BS_ASPECT_FS_WRITE,
    BS_ASPECT_FS_READ, /* the paths that a policy denies to read */
    BS_ASPECT_FS_METADATA,
    BS_ASPECT_NETWORK,
    BS_ASPECT_PROCESS,
    BS_ASPECT_IPC,
    BS_ASPECT_LIMITS,
    BS_ASPECT_KERNEL, /* system calls that increase the attack surface of the kernel */
    BS_ASPECTS
};

/* How much of an aspect is enforced. One claim also sums up all requested aspects. */
enum bs_claim { BS_NOT_REQUESTED, BS_CLAIM_FULLY, BS_CLAIM_PARTIAL, BS_CLAIM_UNAVAILABLE };

/* Return the name as a static string: "repo-write", "fs-read", "partial". */
BS_EXPORT const char *bs_confine_name(enum bs_confine confine);
/* Return false for an unknown name. */
BS_EXPORT bool bs_confine_parse(const char *name, enum bs_confine *confine);
BS_EXPORT const char *bs_aspect_name(enum bs_aspect aspect);
BS_EXPORT const char *bs_claim_name(enum bs_claim claim);

/* The texts of a policy. The library compiles them when it opens a session. */
struct bs_backend_policy {
    struct bs_policy_text global;
    struct bs_policy_text workspace;
    bool has_workspace;
    const char *profile; /* NULL means BS_UNRESTRICTED */
};

struct bs_profile; /* boxspec/profile.h */

struct bs_backend_context {
    const char *root; /* absolute path of an existing directory; links are resolved */
    const char *cwd;  /* NULL means the root; otherwise an absolute path in the root */
    enum bs_confine confine;
    /* NULL: there is no policy, and only `confine` counts */
    const struct bs_backend_policy *policy;
    /* Allowed destinations: `host:port`, `[address]:port` or `*`. Must be empty if `confine` has no
     * network. */
    const char *const *egress;
    size_t n_egress;
    /* Only for landlock+seccomp: refuse every change of mode, owner, times and attributes, even in
     * the workspace. Landlock cannot refuse such changes for the files outside only. This breaks cp
     * -p, tar and gcc. */
    bool strict_metadata;
    const char *launcher; /* path of boxspec-launch; NULL: next to the program or the library, or in
                           * ../libexec/boxspec */
    /* Absolute paths that stay readable, even if the backend hides the directory that contains
     * them. */
    const char *const *readable;
    size_t n_readable;
    /* Accept rules that are enforced except for names that do not exist when the session opens.
     * Such a rule does not make its aspect partial. The report still lists it, and a scan finds
     * violations. */
    bool accept_late_names;
    /* Only for backends: the compiled `policy`, or NULL without a policy. The library sets it in
     * the context that it passes to probe and prepare. Callers leave it NULL. */
    const struct bs_profile *profile;
};

#define BS_BACKEND_CONTEXT_INIT                                                                    \
    { 0, 0, BS_CONFINE_REPO_WRITE, 0, 0, 0, false, 0, 0, 0, false, 0 }

/* A rule of the policy that is not enforced. */
struct bs_unenforced {
    /* JSON pointer (RFC 6901) into the policy; NULL if the rule is in no file */
    const char *pointer;
    const char *rule;
    const char *why;
};

struct bs_aspect_claim {
    enum bs_claim claim;
    /* what is not enforced; not empty if the claim is partial or unavailable */
    const char **reasons;
    size_t n_reasons;
};

struct bs_violation {
    const char *path; /* absolute; bytes, not always UTF-8 */
    const char *rule; /* the rule that denies the path and is not enforced */
};

/* Initialise the report with BS_BACKEND_REPORT_INIT. bs_backend_report_clear may be called any
 * number of times. */
struct bs_backend_report {
    enum bs_claim overall; /* never BS_NOT_REQUESTED */
    struct bs_aspect_claim aspects[BS_ASPECTS];
    struct bs_unenforced *unenforced;
    size_t n_unenforced;
    const char **warnings;
    size_t n_warnings;
    /* Absolute paths of files in the workspace that have hard links outside of it. The list also
     * has files with several names in the workspace if the policy decides differently about these
     * names and the backend cannot enforce the stricter decision under all of them. In a very large
     * workspace the list is incomplete, and a warning says so. */
    const char **hard_links;
    size_t n_hard_links;
    struct bs_violation *violations; /* found by bs_session_scan */
    size_t n_violations;
    struct bs_arena *arena;
    void *unenforced_tree; /* private to the library: a search tree over `unenforced` */
};

#define BS_BACKEND_REPORT_INIT                                                                     \
    { BS_CLAIM_UNAVAILABLE, {{BS_NOT_REQUESTED, 0, 0}}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

BS_EXPORT void bs_backend_report_clear(struct bs_backend_report *report);

/* In the report of a backend of your own, set the claim of an aspect. A claim can only be lowered:
 * a higher one is ignored. bs_report_reason also adds a reason, which is copied. Both return false
 * if memory ran out. */
BS_EXPORT bool bs_report_claim(struct bs_backend_report *report, enum bs_aspect aspect,
                               enum bs_claim claim);
BS_EXPORT bool bs_report_reason(struct bs_backend_report *report, enum bs_aspect aspect,
                                enum bs_claim claim, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* True if an aspect counts for the overall claim. `denies_reading` says whether the policy denies
 * to read any path. */
BS_EXPORT bool bs_context_requests(const struct bs_backend_context *context, enum bs_aspect aspect,
                                   bool denies_reading);

/* Set `overall` from the claims of the requested aspects. */
BS_EXPORT void bs_report_conclude(struct bs_backend_report *report,
                                  const struct bs_backend_context *context, bool denies_reading);

/* A backend. Each function gets the `ctx` of the struct, and returns 0, or a negative code with
 * *err filled. A context is valid until the shutdown of the state that prepare made from it.
 *
 * Cancellation: the descriptor `cancel` becomes readable when the function should return. A probe
 * or prepare that does not return within a second is detached: its thread continues with a private
 * copy of the context, and with `ctx`, which must stay valid until the thread ends. When a detached
 * prepare returns, that thread calls shutdown. */
struct bs_backend {
    const char *name;
    const char *mechanism; /* a text for people: "namespaces+seccomp" */
    void *ctx;
    /* Reports what the backend would enforce; context->root may be NULL. The function starts a
     * harmless program to see that the backend works; if that fails, the claim is
     * BS_CLAIM_UNAVAILABLE. The probe leaves no files. */
    int (*probe)(void *ctx, const struct bs_backend_context *context, int cancel,
                 struct bs_backend_report *report, struct bs_error *err);
    /* Makes the *state of a session. Reports what it finds in the workspace: an aspect that prepare
     * reports as partial makes the session partial. context->root and context->cwd are real paths.
     * If *state is set after a failure, shutdown is called too. */
    int (*prepare)(void *ctx, const struct bs_backend_context *context, int cancel, void **state,
                   struct bs_backend_report *report, struct bs_error *err);
    /* Makes the command that runs the program of the request in the sandbox. Must be fast, have no
     * side effects and work on any thread. All that *out points to must live until `unwrap`, which
     * frees it after the run. */
    int (*wrap)(void *ctx, void *state, const struct bs_exec_request *request, const char *cwd,
                struct bs_wrapped *out, struct bs_error *err);
    void (*unwrap)(void *ctx, void *state, struct bs_wrapped *wrapped); /* may be NULL */
    /* Reports violations. May be NULL. */
    int (*scan)(void *ctx, void *state, struct bs_backend_report *report, struct bs_error *err);
    /* Removes all that prepare made, as far as possible. `state` may be NULL. */
    int (*shutdown)(void *ctx, void *state, struct bs_error *err);
};

/* The backends of this library: none, landlock, landlock+seccomp, bubblewrap, bubblewrap+seccomp.
 * The last one uses Landlock as well, because programs can write to a named pipe on a read-only
 * mount; if the kernel's Landlock is missing or too old (before 5.19), `ipc` is partial. Under
 * every backend programs can read from named pipes outside, as from other files. Both functions
 * return a static struct, or NULL after the last index or for an unknown name. */
BS_EXPORT const struct bs_backend *bs_backend_at(size_t index);
BS_EXPORT const struct bs_backend *bs_backend_find(const char *name);

/* Report how much of `confine`, policy and egress the backend would enforce. Root and cwd of the
 * context are ignored. Takes at most BS_BACKEND_OPEN_MS and one second. `cancel` is -1, or a
 * descriptor that cancels the probe when it becomes readable. Returns 0; BS_E_INVALID if an entry
 * of egress or the policy is wrong; BS_E_EXECUTION if the backend failed or did not return. */
BS_EXPORT int bs_backend_probe(const struct bs_backend *backend,
                               const struct bs_backend_context *context, int cancel,
                               struct bs_backend_report *report, struct bs_error *err);

enum bs_on_unavailable {
    BS_REFUSE, /* refuse the session unless everything is enforced fully */
    /* accept partial enforcement; if the backend is unavailable, run without a sandbox and warn */
    BS_DEGRADE
};

/* Receives every call that a session makes to its backend: "probe", "prepare", "wrap", "run" and
 * "shutdown", in this order. `report` is set after a successful probe, `wrapped` after a successful
 * wrap, `message` after a failure; otherwise they are NULL. All pointers are valid only during the
 * call. The call is made on the thread that uses the session. */
struct bs_session_log {
    void *ctx;
    void (*called)(void *ctx, const char *call, int code, const char *message,
                   const struct bs_backend_report *report, const struct bs_wrapped *wrapped);
};

struct bs_session;

/* Returns 0; BS_E_INVALID if the context or its policy is wrong; BS_E_DENIED if the session is
 * refused; BS_E_EXECUTION if memory ran out. In each case the report contains what the probe and
 * prepare found before the call ended. `log` may be NULL. After an error *session is NULL. */
BS_EXPORT int bs_session_open(const struct bs_backend *backend,
                              const struct bs_backend_context *context,
                              enum bs_on_unavailable on_unavailable,
                              const struct bs_session_log *log, struct bs_session **session,
                              struct bs_backend_report *report, struct bs_error *err);

/* Return how much is enforced. BS_CLAIM_UNAVAILABLE means that programs run without a sandbox. */
BS_EXPORT enum bs_claim bs_session_enforcement(const struct bs_session *session);

/* Returns BS_E_INVALID if the current_dir of a request is not absolute, lies outside of the
 * root of this context, or is not its cwd (if it has one); otherwise 0, also for a directory that
 * does not exist. */
BS_EXPORT int bs_context_check_dir(const struct bs_backend_context *context, const char *dir,
                                   struct bs_error *err);

/* Run a program in the session, as bs_exec_run does. request->sandbox must be NULL. */
BS_EXPORT int bs_session_run(struct bs_session *session, const struct bs_exec_request *request,
                             struct bs_exec_result *result, struct bs_error *err);

/* Return the session as a sandbox for bs_process_open and bs_process_bridge. The requests that use
 * it should have bs_session_cwd as current_dir. Keep the session open until their processes have
 * ended. A session without a backend runs the commands unchanged. */
BS_EXPORT struct bs_sandbox bs_session_sandbox(struct bs_session *session);

/* Returns the directory that programs start in: the cwd of the context, otherwise its root, as a
 * real path. The session owns it. */
BS_EXPORT const char *bs_session_cwd(const struct bs_session *session);

/* A session that opens on first use. If the context names a root, the session opens at once.
 * Otherwise the first request opens it: the current_dir of this request becomes root and cwd, and
 * its readable paths are used. bs_module_execute needs this, because it creates the working
 * directory of the module itself. Until the session is open, use it on one thread only. */
struct bs_lazy_session;

/* Returns as bs_session_open does. The caller must close *lazy, also after an error; *lazy is NULL
 * only if memory ran out. The arguments, and all that they point to, must outlive *lazy. `log` may
 * be NULL. */
BS_EXPORT int bs_lazy_session_open(const struct bs_backend *backend,
                                   const struct bs_backend_context *context,
                                   enum bs_on_unavailable on_unavailable,
                                   const struct bs_session_log *log, struct bs_lazy_session **lazy,
                                   struct bs_error *err);

/* Return a sandbox that is valid as long as `lazy`, or NULL if `lazy` is NULL. The sandbox's
 * `validate` opens the session and returns as bs_session_open does. */
BS_EXPORT const struct bs_sandbox *bs_lazy_session_sandbox(const struct bs_lazy_session *lazy);

/* Return the session, or NULL if it is not open. */
BS_EXPORT struct bs_session *bs_lazy_session_opened(const struct bs_lazy_session *lazy);

/* Return the report of the last attempt to open the session. It is empty before the first attempt,
 * and for NULL. */
BS_EXPORT const struct bs_backend_report *
bs_lazy_session_report(const struct bs_lazy_session *lazy);

/* Close `lazy` and its session. Returns the code of the backend's shutdown. NULL is ignored. */
BS_EXPORT int bs_lazy_session_close(struct bs_lazy_session *lazy, struct bs_error *err);

/* Wrap a request without running it; the log of the session receives the wrapped command. Returns 0
 * or a negative code. */
BS_EXPORT int bs_session_explain(struct bs_session *session, const struct bs_exec_request *request,
                                 struct bs_error *err);

/* Search the workspace for changes of paths that a rule denies and the backend does not protect.
 * Add these changes to the report as violations. Returns 0 or a negative code. */
BS_EXPORT int bs_session_scan(struct bs_session *session, struct bs_backend_report *report,
                              struct bs_error *err);

/* Close the session. Returns the code of the backend's shutdown. NULL is ignored. */
BS_EXPORT int bs_session_close(struct bs_session *session, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
