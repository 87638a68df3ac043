#define _GNU_SOURCE
#include "backend/mechanisms/landlock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/mechanisms/landlock_abi.h"
#include "backend/plan/entries.h"
#include "backend/plan/plan.h"
#include "backend/plan/profile.h"
#include "backend/plan/rules.h"
#include "backend/session/context.h"
#include "backend/session/report.h"
#include "base/error.h"

int bs_landlock_abi(void) {
    long abi = syscall(BS_LL_CREATE_RULESET, NULL, 0, BS_LL_VERSION);
    return abi > 0 ? (int)abi : 0;
}

/* Return the rights that the ruleset restricts: all rights to write. Reading and executing stay
 * allowed. */
static uint64_t handled_fs(int abi) {
    uint64_t rights = BS_LL_WRITE_FILE | BS_LL_REMOVE_DIR | BS_LL_REMOVE_FILE | BS_LL_MAKE_CHAR |
                      BS_LL_MAKE_DIR | BS_LL_MAKE_REG | BS_LL_MAKE_SOCK | BS_LL_MAKE_FIFO |
                      BS_LL_MAKE_BLOCK | BS_LL_MAKE_SYM;
    if (abi >= BS_LL_ABI_REFER)
        rights |= BS_LL_REFER;
    if (abi >= BS_LL_ABI_TRUNCATE)
        rights |= BS_LL_TRUNCATE;
    if (abi >= BS_LL_ABI_IOCTL)
        rights |= BS_LL_IOCTL_DEV;
    return rights;
}

/* Return the rights that are granted on a directory tree: all except making devices. */
static uint64_t tree_rights(uint64_t handled) {
    return handled & ~(BS_LL_MAKE_CHAR | BS_LL_MAKE_BLOCK | BS_LL_IOCTL_DEV);
}

static uint64_t file_rights(uint64_t handled) {
    return handled & (BS_LL_WRITE_FILE | BS_LL_TRUNCATE);
}

static void grant_devices(struct bs_buf *out, uint64_t handled) {
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct stat st;
        if (lstat(devices[i], &st) == 0 && S_ISCHR(st.st_mode))
            bs_plan_grant(out, handled & (BS_LL_WRITE_FILE | BS_LL_TRUNCATE | BS_LL_IOCTL_DEV),
                          devices[i]);
    }
}

/* Grant the paths that one rule of a policy allows. Returns false if Landlock cannot express the
 * rule. */
static bool grant_rule(struct bs_buf *out, uint64_t handled, const char *root, const char *rule) {
    char *path = NULL;
    struct stat st;
    bool tree = false;
    size_t len = bs_rule_literal(rule, &tree);
    if (strcmp(rule, "**") == 0) {
        bs_plan_grant(out, tree_rights(handled), root);
        return true;
    }
    if (len == 0 || asprintf(&path, "%s/%.*s", root, (int)len, rule) < 0)
        return false;
    bool good = false;
    char *real = realpath(path, NULL);
    /* Grant only a path without links. The target of a link has another name, which the policy may
     * deny. */
    if (real != NULL && strcmp(real, path) == 0 && lstat(path, &st) == 0) {
        good = S_ISREG(st.st_mode) || (S_ISDIR(st.st_mode) && tree);
        if (good)
            bs_plan_grant(out, S_ISDIR(st.st_mode) ? tree_rights(handled) : file_rights(handled),
                          path);
    }
    free(real);
    free(path);
    return good;
}

static bool grant_policy(const struct bs_profile *profile, const char *root, uint64_t handled,
                         struct bs_buf *out, struct bs_backend_report *report) {
    size_t n = 0;
    const struct bs_entry *entries = bs_profile_entries(profile, BS_OP_MODIFY, &n);
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        if (entries[i].negated || entries[i].origin != BS_ENTRY_PROFILE)
            continue;
        if (!grant_rule(out, handled, root, entries[i].rule))
            good = bs_report_warn(report,
                                  "`%s`: the policy allows it, but it is refused: Landlock grants "
                                  "files and trees that exist at the start",
                                  entries[i].rule);
    }
    return good;
}

/* Grant the cache, unless one of cache and root lies in the other. A later rule cannot take back a
 * grant, so the grant would allow paths in the root that the policy denies. */
static bool grant_cache(struct bs_buf *out, uint64_t handled, const char *root, bool denies,
                        struct bs_backend_report *report) {
    char *cache = NULL;
    bool good = bs_context_cache(root, &cache);
    if (cache != NULL && denies && (bs_is_below(root, cache) || bs_is_below(cache, root)))
        good = bs_report_warn(report, "`%s`: not granted, because it and the root overlap", cache);
    else if (cache != NULL)
        bs_plan_grant(out, tree_rights(handled), cache);
    free(cache);
    return good;
}

int bs_landlock_plan(const struct bs_backend_context *context, const char *scratch,
                     struct bs_buf *out, struct bs_backend_report *report, struct bs_error *err) {
    int abi = bs_landlock_abi();
    uint64_t handled = handled_fs(abi);
    enum bs_network network = bs_context_network(context);
    const struct bs_profile *profile = context->profile;
    if (abi == 0)
        return bs_fail(err, BS_E_EXECUTION, ENOSYS,
                       "this kernel has no Landlock, or it is disabled");
    bs_plan_add(out, BS_PLAN_MODE, "landlock");
    bs_plan_rights(out, BS_PLAN_FS, handled);
    if (abi >= BS_LL_ABI_NET && network != BS_NET_OPEN)
        bs_plan_rights(out, BS_PLAN_NET,
                       network == BS_NET_NONE ? BS_LL_BIND_TCP | BS_LL_CONNECT_TCP
                                              : BS_LL_CONNECT_TCP);
    if (abi >= BS_LL_ABI_SCOPE)
        bs_plan_rights(out, BS_PLAN_SCOPE, BS_LL_SCOPE_ABSTRACT | BS_LL_SCOPE_SIGNAL);
    for (size_t i = 0; abi >= BS_LL_ABI_NET && network == BS_NET_LIST && i < context->n_egress;
         i++) {
        char port[16];
        (void)snprintf(port, sizeof port, "%u", bs_egress_port(context->egress[i]));
        bs_plan_add(out, BS_PLAN_PORT, port);
    }
    grant_devices(out, handled);
    bs_plan_grant(out, tree_rights(handled), scratch);
    bool good = true;
    if (context->confine == BS_CONFINE_FULL_DEV)
        good = grant_cache(out, handled, context->root, bs_profile_denies(profile, BS_OP_MODIFY),
                           report);
    if (context->confine != BS_CONFINE_READ_ONLY && profile == NULL)
        bs_plan_grant(out, tree_rights(handled), context->root);
    else if (context->confine != BS_CONFINE_READ_ONLY)
        good = good && grant_policy(profile, context->root, handled, out, report);
    return good && !out->failed ? BS_OK
                                : bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a plan");
}

static bool add_gap(struct bs_backend_report *report, enum bs_aspect aspect, const char *why) {
    return bs_report_reason(report, aspect, BS_CLAIM_PARTIAL, "%s", why);
}

static bool claim_network(const struct bs_backend_context *context, bool filtered, int abi,
                          struct bs_backend_report *report) {
    enum bs_network network = bs_context_network(context);
    if (network == BS_NET_OPEN || (network == BS_NET_NONE && filtered))
        return bs_report_claim(report, BS_ASPECT_NETWORK, BS_CLAIM_FULLY);
    if (abi < BS_LL_ABI_NET)
        return bs_report_reason(report, BS_ASPECT_NETWORK, BS_CLAIM_UNAVAILABLE,
                                "Landlock of ABI %d cannot restrict the network", abi);
    if (network == BS_NET_NONE)
        return add_gap(report, BS_ASPECT_NETWORK,
                       "only TCP is refused: UDP and other families are open");
    return add_gap(report, BS_ASPECT_NETWORK,
                   "TCP goes to the listed ports of any host, and UDP is open");
}

/* True if a btrfs is mounted, or if the list of mounts cannot be read. Blanks in names are written
 * in octal in this list, so ` btrfs ` can only be the type of a file system. */
static bool has_btrfs(void) {
    FILE *list = fopen("/proc/self/mounts", "re");
    char *line = NULL;
    size_t size = 0;
    bool found = list == NULL;
    while (!found && getline(&line, &size, list) > 0)
        found = strstr(line, " btrfs ") != NULL;
    if (list != NULL && !found)
        found = feof(list) == 0; /* the rest of the list could not be read */
    free(line);
    if (list != NULL)
        (void)fclose(list);
    return found;
}

bool bs_landlock_claims(const struct bs_backend_context *context, bool filtered, int abi,
                        struct bs_backend_report *report) {
    bool strict = filtered && context->strict_metadata;
    bool good = bs_report_claim(report, BS_ASPECT_FS_WRITE, BS_CLAIM_FULLY) &&
                bs_report_claim(report, BS_ASPECT_FS_METADATA, BS_CLAIM_FULLY) &&
                add_gap(report, BS_ASPECT_PROCESS, "processes outside can be seen in /proc") &&
                add_gap(report, BS_ASPECT_PROCESS,
                        "a process that left its group survives a run that is killed at once") &&
                add_gap(report, BS_ASPECT_IPC, "files of /dev/shm can be read");
    if (abi < BS_LL_ABI_TRUNCATE)
        good = good && add_gap(report, BS_ASPECT_FS_WRITE, "files outside can be truncated");
    if (abi < BS_LL_ABI_IOCTL)
        good = good && add_gap(report, BS_ASPECT_FS_WRITE, "devices can be changed by ioctl");
    if (!filtered && has_btrfs())
        good = good && add_gap(report, BS_ASPECT_FS_WRITE,
                               "subvolumes of btrfs can be made and removed by ioctl");
    if (!strict)
        good = good && add_gap(report, BS_ASPECT_FS_METADATA,
                               "mode, owner, times and attributes of files outside can be set");
    if (abi < BS_LL_ABI_SCOPE)
        good = good && add_gap(report, BS_ASPECT_PROCESS, "processes outside can be signalled") &&
               (filtered || add_gap(report, BS_ASPECT_IPC, "abstract sockets are shared"));
    if (!filtered)
        good = good &&
               add_gap(report, BS_ASPECT_PROCESS,
                       "limits and priority of processes outside can be changed") &&
               add_gap(report, BS_ASPECT_IPC, "Unix sockets that have a path are shared") &&
               add_gap(report, BS_ASPECT_IPC, "System V IPC, POSIX queues and keyrings are shared");
    if (strict)
        good = good && bs_report_warn(report, "strict metadata: chmod, chown, times and attributes "
                                              "are refused inside the workspace, too");
    return good && claim_network(context, filtered, abi, report);
}
