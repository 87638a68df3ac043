#define _GNU_SOURCE
#include "module/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"

char *bs_module_folder_make(void) {
    const char *below = getenv("TMPDIR");
    char *path = NULL;
    if (below == NULL || below[0] != '/')
        below = "/tmp";
    if (asprintf(&path, "%s/boxspec-module-XXXXXX", below) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    /* A strict umask may have withheld some of the owner's rights. */
    bool made = mkdtemp(path) != NULL;
    if (made && chmod(path, 0700) == 0)
        return path;
    int why = errno;
    if (made)
        (void)rmdir(path);
    free(path);
    errno = why;
    return NULL;
}

static int open_folder(int dir, const char *name) {
    return (int)BS_RETRY(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* Deepest level of recursion: each level costs a descriptor and a stack frame. */
enum { LEVELS = 32 };

struct removal {
    int top;
    unsigned number;        /* number of the next name for a directory that is moved up */
    struct timespec began;  /* CLOCK_REALTIME, because file times use this clock */
    uint64_t patient_until; /* after this time, files that are newer than `began` end the removal */
    bool is_written_to;
};

static void empty(struct removal *removal, int dir, unsigned level);

/* True if a process is still writing to the directory, which then may never become empty. A file
 * that is newer than the start of the removal is the evidence. A directory that is only large has
 * no such file, so its removal may take as long as necessary. */
static bool is_written_to(struct removal *removal, int dir, const char *name) {
    struct stat st;
    if (!removal->is_written_to && bs_now_ns() >= removal->patient_until &&
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode)) {
        time_t at = st.st_mtim.tv_sec;
        removal->is_written_to =
            at > removal->began.tv_sec ||
            (at == removal->began.tv_sec && st.st_mtim.tv_nsec > removal->began.tv_nsec);
    }
    return removal->is_written_to;
}

/* Move a directory that is nested too deeply to the top, where the next round removes it. */
static void move_up(struct removal *removal, int dir, const char *name) {
    char up[32];
    do
        (void)snprintf(up, sizeof up, ".%u", removal->number++);
    while (renameat(dir, name, removal->top, up) != 0 &&
           (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
}

static void remove_name(struct removal *removal, int dir, const char *name, unsigned level) {
    if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return;
    /* EBUSY: something is mounted on the directory, perhaps a directory of the host. */
    if (errno != ENOTEMPTY && errno != EEXIST)
        return;
    /* The mode of the directory may forbid listing it and removing its entries. */
    (void)fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW);
    int folder = level < LEVELS ? open_folder(dir, name) : -1;
    if (folder >= 0) {
        empty(removal, folder, level + 1);
        bs_close(&folder);
        (void)unlinkat(dir, name, AT_REMOVEDIR);
    } else if (dir != removal->top) {
        move_up(removal, dir, name);
    }
}

/* Remove all entries of the directory `dir`. */
static void empty(struct removal *removal, int dir, unsigned level) {
    int listed = open_folder(dir, ".");
    DIR *entries = listed >= 0 ? fdopendir(listed) : NULL;
    if (entries == NULL) {
        bs_close(&listed);
        return;
    }
    const struct dirent *entry = NULL;
    while ((entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (is_written_to(removal, dir, entry->d_name))
            break;
        remove_name(removal, dir, entry->d_name, level);
    }
    (void)closedir(entries);
}

bool bs_module_folder_remove(const char *path, unsigned within_ms) {
    enum { DEEPEST_TIMES = 10 };
    /* The limit is meant for processes that keep writing. It counts from the first time that all
     * levels were reached. But a process may keep making the directory deeper, so ten times the
     * limit ends the removal in any case. */
    uint64_t until = bs_after_ms(bs_now_ns(), (uint64_t)within_ms * DEEPEST_TIMES);
    bool reached = false;
    struct removal removal = {.patient_until = bs_after_ms(bs_now_ns(), within_ms)};
    (void)clock_gettime(CLOCK_REALTIME, &removal.began);
    for (;;) {
        if (rmdir(path) == 0 || errno == ENOENT)
            return true;
        /* The module has mounted something over the directory. */
        if (errno == EBUSY)
            return false;
        /* The module may have replaced the directory, for example by a link to another place. */
        if (errno == ENOTDIR && unlink(path) == 0)
            return true;
        unsigned before = removal.number;
        (void)fchmodat(AT_FDCWD, path, 0700, AT_SYMLINK_NOFOLLOW);
        removal.top = open_folder(AT_FDCWD, path);
        if (removal.top >= 0)
            empty(&removal, removal.top, 1);
        bs_close(&removal.top);
        if (rmdir(path) == 0)
            return true;
        uint64_t now = bs_now_ns();
        if (!reached && removal.number == before) {
            reached = true;
            until = bs_after_ms(now, within_ms);
        }
        if (now >= until || removal.is_written_to)
            return false;
        struct timespec moment = {0, 2 * (long)BS_NS_PER_MS};
        if (removal.number == before)
            (void)nanosleep(&moment, NULL);
    }
}
