/* What pid 1 of a namespace does to its mounts while it may. */
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

/* What somebody mounts outside while the program runs would be mounted here, too, and writable: a
 * bind that is read-only says so of the mounts that are there. */
bool keep_mounts(struct bs_launch_failure *failure) {
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ||
           failed(failure, BS_LAUNCH_SANDBOX, errno, "mounts of its own");
}

/* As `mount --bind -o ro` does it, with the mounts below: a second mount of the same place, because
 * the first may be somebody else's. A kernel refuses a change of the other flags. */
static bool make_read_only(const char *path, struct bs_launch_failure *failure) {
    static const struct {
        unsigned long seen;
        unsigned long set;
    } kept[] = {{ST_NOSUID, MS_NOSUID},         {ST_NODEV, MS_NODEV},
                {ST_NOEXEC, MS_NOEXEC},         {ST_NOATIME, MS_NOATIME},
                {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
    struct statvfs st;
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
    if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) != 0 || statvfs(path, &st) != 0)
        return failed(failure, BS_LAUNCH_SANDBOX, errno, path);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if ((st.f_flag & kept[i].seen) != 0)
            flags |= kept[i].set;
    }
    return mount(NULL, path, NULL, flags, NULL) == 0 ||
           failed(failure, BS_LAUNCH_SANDBOX, errno, path);
}

static bool is_read_only(const char *path) {
    struct statvfs st;
    return statvfs(path, &st) == 0 && (st.f_flag & ST_RDONLY) != 0;
}

/* Whether it is one of `NAME:NAME:`. */
static bool is_listed(const char *names, const char *name) {
    size_t len = strlen(name);
    for (; *names != '\0'; names += strcspn(names, ":") + 1) {
        if (strncmp(names, name, len) == 0 && names[len] == ':')
            return true;
    }
    return false;
}

bool seal(const char *words, struct bs_launch_failure *failure) {
    char proc[PATH_MAX];
    char path[PATH_MAX + NAME_MAX + 2];
    size_t len = strcspn(words, ":");
    const char *unwritable = words[len] == ':' ? words + len + 1 : "";
    (void)snprintf(proc, sizeof proc, "%.*s", (int)len, words);
    DIR *entries = opendir(proc);
    if (entries == NULL)
        return failed(failure, BS_LAUNCH_SANDBOX, errno, proc);
    bool good = true;
    const struct dirent *entry = NULL;
    while (good && (errno = 0, entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        /* Links lead to those of a process. */
        if (name[0] == '.' || isdigit((unsigned char)name[0]) || entry->d_type == DT_LNK ||
            is_listed(unwritable, name))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", proc, name);
        good = is_read_only(path) || make_read_only(path, failure);
    }
    if (good && errno != 0)
        good = failed(failure, BS_LAUNCH_SANDBOX, errno, proc);
    (void)closedir(entries);
    return good;
}
