/* What the files of this room share. */
#ifndef BS_BACKEND_INTERNAL_H
#define BS_BACKEND_INTERNAL_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

#include <sys/stat.h>

#include "base/buf.h"

/* Contexts (context.c). */

/* A context whose root and cwd are real paths, malloc'd; the rest is borrowed. */
struct bs_resolved_context {
    struct bs_backend_context context;
    char *root;
    char *cwd;
};

int bs_context_resolve(const struct bs_backend_context *given, struct bs_resolved_context *resolved,
                       struct bs_error *err);
void bs_context_clear(struct bs_resolved_context *resolved);

/* A copy of a context and of all that it points to (context_ref.c), for whoever may outlive the
 * caller. One is made with one holder; the last that lets go frees it. Any thread. NULL: out of
 * memory. */
struct bs_kept_context;
struct bs_kept_context *bs_context_keep(const struct bs_backend_context *given);
struct bs_kept_context *bs_context_share(struct bs_kept_context *kept);
void bs_context_let_go(struct bs_kept_context *kept); /* NULL is nothing to let go */
const struct bs_backend_context *bs_kept_context(const struct bs_kept_context *kept);

/* Everything of a context that does not need its root. */
int bs_context_check(const struct bs_backend_context *context, struct bs_error *err);

bool bs_is_below(const char *path, const char *dir); /* or the same */
/* The real path of HOME/.cache, malloc'd, or NULL where there is none, and where the root holds its
 * name: it is granted with the root then, and a program may have made it a link to anywhere. `root`
 * may be NULL. False: out of memory. */
bool bs_context_cache(const char *root, char **cache);

bool bs_confine_has_network(enum bs_confine confine);

/* What egress means for a backend that cannot tell hosts apart. */
enum bs_network { BS_NET_OPEN, BS_NET_NONE, BS_NET_LIST };
enum bs_network bs_context_network(const struct bs_backend_context *context);
unsigned bs_egress_port(const char *entry); /* 0 for `*` */

/* Reports (report.c). All return false when memory ran out. */
bool bs_report_warn(struct bs_backend_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool bs_report_unenforced(struct bs_backend_report *report, const char *rule, const char *why);
bool bs_report_hard_link(struct bs_backend_report *report, const char *root, const char *path);
bool bs_report_violation(struct bs_backend_report *report, const char *root, const char *path,
                         const char *rule);
/* Adds to the report of a probe what a prepare found in the workspace. An aspect that becomes
 * partial makes the whole partial, and never less. */
bool bs_report_merge(struct bs_backend_report *to, const struct bs_backend_report *from);

/* The environment inside (environment.c). */
struct bs_env_list {
    struct bs_env_pair *pairs; /* malloc'd, values borrowed from the process */
    char **names;
    size_t n;
};

/* Those of the caller that `inherit` passes on, and behind them the additions. `hermetic`: PATH
 * alone. Returns 0 or ENOMEM. */
int bs_env_compose(struct bs_env_list *list, bool inherits, bool hermetic,
                   const struct bs_env_pair *additions, size_t n_additions);
void bs_env_list_clear(struct bs_env_list *list);

/* A directory of one session, which nobody inside can write to (private_dir.c). It is locked as
 * long as its session lives; making one removes those in the same place whose callers were killed.
 */
struct bs_hideout {
    char *path; /* malloc'd; NULL: none */
    int lock;
};
#define BS_HIDEOUT_INIT                                                                            \
    { NULL, -1 }
/* Neither it nor what is below it may be written to by programs of this context; `also` is another
 * directory that they may write to, or NULL. */
int bs_hideout_make(const struct bs_backend_context *context, const char *also,
                    struct bs_hideout *made, struct bs_error *err);
bool bs_is_granted(const struct bs_backend_context *context, const char *also, const char *dir);
/* A file for its owner to execute. */
int bs_hideout_copy(const char *place, const char *name, const char *file, struct bs_error *err);
int bs_hideout_add(const char *place, const char *name, const void *data, size_t len, unsigned mode,
                   struct bs_error *err);
int bs_hideout_add_dir(const char *place, const char *name, unsigned mode, struct bs_error *err);
int bs_hideout_remove(struct bs_hideout *hideout, struct bs_error *err); /* and unlocks it */

/* Removes a directory, or what else has the name, with all that is in it (remove_tree.c). Returns 0
 * or errno; ETIME: `until` (bs_now_ns) came first. */
int bs_tree_remove(int parent, const char *name, uint64_t until);

/* Where boxspec-launch is; malloc'd (find_launcher.c). */
char *bs_launcher_find(const char *given, struct bs_error *err);

/* Policies. The profile of a context's policy; NULL where it has none. */
int bs_policy_of(const struct bs_backend_context *context, struct bs_profile **profile,
                 struct bs_error *err);
/* A file name that no rule is written for. */
#define BS_NEW_NAME "boxspec-7c1f0e55-nobody-knows"
/* False, too, if the policy cannot judge the path or memory ran out. `new`: a new name in `dir`
 * ("": the root). */
bool bs_profile_allows(const struct bs_profile *profile, enum bs_op op, const char *path);
bool bs_profile_allows_new(const struct bs_profile *profile, enum bs_op op, const char *dir);
bool bs_profile_denies(const struct bs_profile *profile, enum bs_op op);
/* The rule that denies this path, or NULL: the path is allowed, no rule matches it, or the policy
 * cannot judge it. */
const struct bs_entry *bs_profile_denying(const struct bs_profile *profile, enum bs_op op,
                                          const char *path);

/* The path that a rule names, where it names one: `a/b`, and `a/b` of `a/b/`**, which is a tree.
 * Its length, or 0 (rules.c). */
size_t bs_literal_of(const char *rule, bool *tree);

/* Rules that a mechanism does not hold, by enum bs_op (rules.c). */
struct bs_rules_lacking {
    unsigned named[2];
    unsigned counted[2]; /* those that make their aspect partial */
};

/* Names them in the report. `root` NULL: those that hold in no workspace; else those that fail in
 * this one. False: out of memory. */
bool bs_rules_of_mounts(const struct bs_profile *profile, const struct bs_backend_context *context,
                        const char *root, struct bs_backend_report *report,
                        struct bs_rules_lacking *lacking);
bool bs_rules_of_grants(const struct bs_profile *profile, const struct bs_backend_context *context,
                        struct bs_backend_report *report, struct bs_rules_lacking *lacking);
bool bs_report_entry(struct bs_backend_report *report, const struct bs_entry *entry,
                     const char *why);

/* The words for bubblewrap that make a policy true for every path that exists now (mounts.c).
 * `place` has `nothing` and `nothing.d`. Entries of a plan are appended to out. A rule that is not
 * held for some path is named in the report, and its aspect becomes partial. */
int bs_mounts_add(const struct bs_profile *profile, const struct bs_backend_context *context,
                  const char *place, int cancel, struct bs_buf *out,
                  struct bs_backend_report *report, struct bs_error *err);

/* Entries of a plan (entries.c; plan.h says what they mean). */
void bs_plan_add(struct bs_buf *out, const char *key, const char *value);
void bs_plan_arg(struct bs_buf *out, const char *word);
void bs_plan_rights(struct bs_buf *out, const char *key, uint64_t rights);
void bs_plan_grant(struct bs_buf *out, uint64_t rights, const char *path);

/* Files with a name outside of the root; with a profile, also those that it does not treat alike
 * under each of their names. */
int bs_links_report(const char *root, const struct bs_profile *profile,
                    struct bs_backend_report *report, struct bs_error *err);

/* The strictest that is wanted of a file under any of its names (aliases.c): all are added, then
 * sorted, then asked. Larger is stricter. */
struct bs_alias {
    uint64_t device;
    uint64_t inode;
    int access;
};
struct bs_aliases {
    struct bs_alias *list;
    size_t n;
    size_t cap;
};
#define BS_ALIASES_INIT                                                                            \
    { NULL, 0, 0 }
bool bs_has_other_names(const struct stat *st);
/* Of a file with other names. False: out of memory. */
bool bs_aliases_add(struct bs_aliases *aliases, const struct stat *st, int access);
void bs_aliases_sort(struct bs_aliases *aliases);
/* `access`, or more where another name has it. */
int bs_aliases_strictest(const struct bs_aliases *aliases, const struct stat *st, int access);
void bs_aliases_clear(struct bs_aliases *aliases);

/* What a scan compares with (scan.c). */
struct bs_snapshot;
/* `cut` NULL: without limits. Else a workspace that is too large sets it, and *snapshot is NULL. */
int bs_snapshot_take(const struct bs_profile *profile, const char *root, int cancel, bool *cut,
                     struct bs_snapshot **snapshot, struct bs_error *err);
int bs_snapshot_compare(const struct bs_snapshot *snapshot, const struct bs_profile *profile,
                        const char *root, struct bs_backend_report *report, struct bs_error *err);
void bs_snapshot_free(struct bs_snapshot *snapshot);

/* A walk through a workspace in its order, links not followed (walk.c). */
struct bs_walked {
    const char *path;     /* absolute */
    const char *relative; /* to the root; "" for the root itself */
    const struct stat *st;
};
/* enter and closed say false when memory ran out, which ends the walk. */
struct bs_walk {
    const char *root;
    void *ctx;
    bool (*enter)(void *ctx, const struct bs_walked *at);
    void (*leave)(void *ctx, const struct bs_walked *at); /* of a directory; may be NULL */
    /* A directory that may not be looked into, between the two; may be NULL. */
    bool (*closed)(void *ctx, const struct bs_walked *at);
    int cancel; /* or -1 */
    /* NULL: the walk has no limits. Else it ends at `until` (bs_now_ns) and after two million
     * names, sets *cut, and leaves the directories that it is in. */
    bool *cut;
    uint64_t until;
};
/* 0 after the whole tree, or a part of it with *cut set; else an error. */
int bs_walk_tree(const struct bs_walk *walk, struct bs_error *err);

/* Landlock (landlock.c). */
int bs_landlock_abi(void); /* 0: not there, or switched off */
int bs_landlock_plan(const struct bs_backend_context *context, const struct bs_profile *profile,
                     const char *scratch, struct bs_buf *out, struct bs_backend_report *report,
                     struct bs_error *err);
bool bs_landlock_claims(const struct bs_backend_context *context, bool filtered, int abi,
                        struct bs_backend_report *report);

/* Adds `NAME:` for each entry of a procfs that is no process and that nobody, or everybody, can
 * write to, to it and to each file below it (proc_sealing.c). Out of memory: the buffer says so. */
void bs_unwritable(const char *proc, struct bs_buf *names);

/* bubblewrap (bubblewrap.c). */
#define BS_BUBBLEWRAP "/usr/bin/bwrap"
int bs_bubblewrap_plan(const struct bs_backend_context *context, const struct bs_profile *profile,
                       const char *place, const char *scratch, int cancel, struct bs_buf *out,
                       struct bs_backend_report *report, struct bs_error *err);
bool bs_bubblewrap_claims(const struct bs_backend_context *context, bool filtered,
                          struct bs_backend_report *report);
char *bs_bubblewrap_scratch(const char *root); /* malloc'd; a real path */

/* What holds named pipes that a mount does not (pipes.c): a ruleset for pid 1 of the namespaces,
 * whose program can mount nothing any more. Nothing where the kernel cannot. False: out of memory.
 */
bool bs_pipes_can_be_held(void);
bool bs_pipes_plan(const struct bs_backend_context *context, const char *scratch,
                   struct bs_buf *out);

/* Landlock and bubblewrap, with and without a filter (prepare.c). */
struct bs_kind {
    bool namespaces;
    bool filtered;
};
int bs_confined_probe(void *ctx, const struct bs_backend_context *context, int cancel,
                      struct bs_backend_report *report, struct bs_error *err);
int bs_confined_prepare(void *ctx, const struct bs_backend_context *context, int cancel,
                        void **state, struct bs_backend_report *report, struct bs_error *err);
/* `also`: a directory that programs of others may write to, or NULL. */
int bs_confined_prepare_beside(const struct bs_kind *kind, const struct bs_backend_context *context,
                               const char *also, int cancel, void **made,
                               struct bs_backend_report *report, struct bs_error *err);
int bs_confined_wrap(void *ctx, void *state, const struct bs_exec_request *request, const char *cwd,
                     struct bs_wrapped *out, struct bs_error *err);
void bs_confined_unwrap(void *ctx, void *state, struct bs_wrapped *wrapped);
int bs_confined_scan(void *ctx, void *state, struct bs_backend_report *report,
                     struct bs_error *err);
int bs_confined_shutdown(void *ctx, void *state, struct bs_error *err);

/* Runs what was wrapped before: the seam of exec hands it over (wrap.c). */
int bs_seat_run(struct bs_wrapped *wrapped, const struct bs_exec_request *request,
                struct bs_exec_result *result, struct bs_error *err);

/* The positive control of a probe (control.c): BS_OK where a program starts inside. */
int bs_control(const struct bs_kind *kind, const struct bs_backend_context *context, int cancel,
               struct bs_error *err);

#endif
