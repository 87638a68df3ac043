/* Makes the /proc of a namespace read-only. Pid 1 does this before it drops its privileges. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "backend/launch/launch.h"

/* Refuse mount events from outside. Otherwise a file system that is mounted outside while the
 * program runs would appear in the namespace, and would be writable: a read-only bind mount covers
 * only the mounts that existed when it was made. */
bool refuse_mount_events(struct bs_launch_failure *failure) {
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ||
           set_failure(failure, BS_LAUNCH_SANDBOX, errno, "mounts of its own");
}

/* Make a path and the mounts below it read-only, as `mount --bind -o ro` does. First mount the path
 * on itself, because the existing mount may belong to another namespace. The remount repeats the
 * mount's other flags, because the kernel refuses to change them. */
static bool make_read_only(const char *path, struct bs_launch_failure *failure) {
    static const struct {
        unsigned long seen;
        unsigned long set;
    } preserved[] = {{ST_NOSUID, MS_NOSUID},         {ST_NODEV, MS_NODEV},
                     {ST_NOEXEC, MS_NOEXEC},         {ST_NOATIME, MS_NOATIME},
                     {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
    struct statvfs st;
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
    if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) != 0 || statvfs(path, &st) != 0)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, path);
    for (size_t i = 0; i < sizeof preserved / sizeof *preserved; i++) {
        if ((st.f_flag & preserved[i].seen) != 0)
            flags |= preserved[i].set;
    }
    return mount(NULL, path, NULL, flags, NULL) == 0 ||
           set_failure(failure, BS_LAUNCH_SANDBOX, errno, path);
}

static bool is_read_only(const char *path) {
    struct statvfs st;
    return statvfs(path, &st) == 0 && (st.f_flag & ST_RDONLY) != 0;
}

/* True if `name` is in `names`, a list of the form `NAME:NAME:`. */
static bool is_listed(const char *names, const char *name) {
    size_t len = strlen(name);
    for (; *names != '\0'; names += strcspn(names, ":") + 1) {
        if (strncmp(names, name, len) == 0 && names[len] == ':')
            return true;
    }
    return false;
}

bool make_proc_read_only(const char *setting, struct bs_launch_failure *failure) {
    char proc[PATH_MAX];
    char path[PATH_MAX + NAME_MAX + 2];
    size_t len = strcspn(setting, ":");
    const char *skipped = setting[len] == ':' ? setting + len + 1 : "";
    (void)snprintf(proc, sizeof proc, "%.*s", (int)len, setting);
    DIR *entries = opendir(proc);
    if (entries == NULL)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, proc);
    bool good = true;
    const struct dirent *entry = NULL;
    while (good && (errno = 0, entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        /* Skip directories of processes, and links, which lead to such directories. */
        if (name[0] == '.' || isdigit((unsigned char)name[0]) || entry->d_type == DT_LNK ||
            is_listed(skipped, name))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", proc, name);
        good = is_read_only(path) || make_read_only(path, failure);
    }
    if (good && errno != 0)
        good = set_failure(failure, BS_LAUNCH_SANDBOX, errno, proc);
    (void)closedir(entries);
    return good;
}
