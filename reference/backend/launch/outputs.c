#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/launch/launch.h"

void outputs_note(struct outputs *outputs, int out, int err) {
    const int fds[] = {out, err};
    for (int at = 0; at < 2; at++) {
        struct stat st;
        if (fstat(fds[at], &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
            outputs->ids[outputs->n++] = (struct output_id){st.st_dev, st.st_ino};
    }
}

static bool is_output(const struct outputs *outputs, int dir, const char *name) {
    struct stat st;
    if (fstatat(dir, name, &st, 0) != 0)
        return false;
    for (size_t i = 0; i < outputs->n; i++) {
        if (outputs->ids[i].device == st.st_dev && outputs->ids[i].inode == st.st_ino)
            return true;
    }
    return false;
}

bool outputs_held_by(const struct outputs *outputs, pid_t pid) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *dir = outputs->n > 0 ? opendir(path) : NULL;
    const struct dirent *entry = NULL;
    bool found = false;
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        found = entry->d_name[0] != '.' && is_output(outputs, dirfd(dir), entry->d_name);
    if (dir != NULL)
        (void)closedir(dir);
    return found;
}
