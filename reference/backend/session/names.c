#include <boxspec/backend.h>

#include <string.h>

static const char *const confines[] = {[BS_CONFINE_READ_ONLY] = "read-only",
                                       [BS_CONFINE_REPO_WRITE] = "repo-write",
                                       [BS_CONFINE_NO_NETWORK] = "no-network",
                                       [BS_CONFINE_FULL_DEV] = "full-dev",
                                       [BS_CONFINE_CI_ONLY] = "ci-only"};

const char *bs_confine_name(enum bs_confine confine) { return confines[confine]; }

bool bs_confine_parse(const char *name, enum bs_confine *confine) {
    for (size_t i = 0; i < sizeof confines / sizeof *confines; i++) {
        if (strcmp(name, confines[i]) != 0)
            continue;
        *confine = (enum bs_confine)i;
        return true;
    }
    return false;
}

const char *bs_aspect_name(enum bs_aspect aspect) {
    static const char *const names[BS_ASPECTS] = {
        [BS_ASPECT_FS_WRITE] = "fs-write",       [BS_ASPECT_FS_READ] = "fs-read",
        [BS_ASPECT_FS_METADATA] = "fs-metadata", [BS_ASPECT_NETWORK] = "network",
        [BS_ASPECT_PROCESS] = "process",         [BS_ASPECT_IPC] = "ipc",
        [BS_ASPECT_LIMITS] = "limits",           [BS_ASPECT_KERNEL] = "kernel"};
    return names[aspect];
}

const char *bs_claim_name(enum bs_claim claim) {
    static const char *const names[] = {[BS_NOT_REQUESTED] = "not-requested",
                                        [BS_CLAIM_FULLY] = "fully",
                                        [BS_CLAIM_PARTIAL] = "partial",
                                        [BS_CLAIM_UNAVAILABLE] = "unavailable"};
    return names[claim];
}
