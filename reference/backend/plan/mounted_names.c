#define _GNU_SOURCE
#include "backend/plan/mounted_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/session/context.h"
#include "base/list.h"

/* A line of /proc/self/mountinfo, which proc_pid_mountinfo(5) describes. */
struct mount {
    char *device; /* MAJOR:MINOR */
    char *inner;  /* path of the mounted directory in its file system */
    char *at;     /* the mount point */
};

struct mounts {
    struct mount *list;
    size_t n;
    size_t cap;
};

static unsigned octal(char c) { return c >= '0' && c <= '7' ? (unsigned)(c - '0') : 8; }

/* Decode a field of the list of mounts, in which the kernel writes a blank, a tab, a newline and a
 * backslash as \ and three octal digits. */
static void decode(char *text) {
    char *to = text;
    for (const char *at = text; *at != '\0'; to++) {
        unsigned value = 256;
        if (at[0] == '\\' && octal(at[1]) < 8 && octal(at[2]) < 8 && octal(at[3]) < 8)
            value = octal(at[1]) * 64 + octal(at[2]) * 8 + octal(at[3]);
        *to = value < 256 ? (char)(unsigned char)value : *at;
        at += value < 256 ? 4 : 1;
    }
    *to = '\0';
}

static bool add_mount(struct mounts *mounts, char *line) {
    enum { DEVICE = 2, INNER, AT, FIELDS };
    char *fields[FIELDS] = {NULL};
    char *save = NULL;
    char *rest = line;
    for (size_t i = 0; i < FIELDS; i++, rest = NULL) {
        fields[i] = strtok_r(rest, " \n", &save);
        if (fields[i] == NULL)
            return true;
        decode(fields[i]);
    }
    struct mount *list = bs_list_room(mounts->list, mounts->n, &mounts->cap, sizeof *list);
    if (list == NULL)
        return false;
    mounts->list = list;
    struct mount *mount = &list[mounts->n++];
    *mount = (struct mount){strdup(fields[DEVICE]), strdup(fields[INNER]), strdup(fields[AT])};
    return mount->device != NULL && mount->inner != NULL && mount->at != NULL;
}

static int read_mounts(struct mounts *mounts) {
    FILE *lines = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t size = 0;
    int os_error = lines == NULL ? errno : 0;
    while (os_error == 0 && getline(&line, &size, lines) > 0)
        os_error = add_mount(mounts, line) ? 0 : ENOMEM;
    /* getline sets no error flag if memory ran out, and a part of the list would look complete */
    if (os_error == 0 && feof(lines) == 0)
        os_error = errno == ENOMEM ? ENOMEM : EIO;
    free(line);
    if (lines != NULL)
        (void)fclose(lines);
    return os_error;
}

static void clear_mounts(struct mounts *mounts) {
    for (size_t i = 0; i < mounts->n; i++) {
        free(mounts->list[i].device);
        free(mounts->list[i].inner);
        free(mounts->list[i].at);
    }
    free(mounts->list);
}

/* Return `base` and the part of `path` that lies below `dir`, malloc'd. NULL if memory ran out. */
static char *rebase(const char *path, const char *dir, const char *base) {
    const char *rest = path + strlen(dir);
    char *made = NULL;
    while (rest[0] == '/')
        rest++;
    bool at_top = strcmp(base, "/") == 0;
    if (rest[0] == '\0')
        return strdup(base);
    return asprintf(&made, "%s/%s", at_top ? "" : base, rest) < 0 ? NULL : made;
}

/* True if both paths are the same file. This excludes a mount that is covered by a later mount. */
static bool is_same_file(const char *path, const char *other, bool *is_dir) {
    struct stat one;
    struct stat two;
    if (lstat(path, &one) != 0 || lstat(other, &two) != 0)
        return false;
    *is_dir = S_ISDIR(one.st_mode);
    return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* Add the pair to the list. Afterwards the list owns both texts, or they are freed. */
static int add_name(struct bs_mounted_names *names, char *path, char *other) {
    struct bs_mounted_name *list = NULL;
    bool good = path != NULL && other != NULL;
    bool is_dir = false;
    if (good && strcmp(path, other) != 0 && is_same_file(path, other, &is_dir)) {
        list = bs_list_room(names->list, names->n, &names->cap, sizeof *list);
        good = list != NULL;
    }
    if (list == NULL) {
        free(path);
        free(other);
        return good ? 0 : ENOMEM;
    }
    names->list = list;
    list[names->n++] = (struct bs_mounted_name){path, other};
    return 0;
}

/* Add the names that the mounts give to one directory or file of the workspace. `place` has its
 * path and its position in its file system. */
static int add_names(const struct mounts *mounts, const struct mount *place,
                     struct bs_mounted_names *names) {
    int os_error = 0;
    for (size_t i = 0; os_error == 0 && i < mounts->n; i++) {
        const struct mount *mount = &mounts->list[i];
        if (strcmp(mount->device, place->device) != 0)
            continue;
        if (bs_is_below(place->inner, mount->inner))
            os_error =
                add_name(names, strdup(place->at), rebase(place->inner, mount->inner, mount->at));
        else if (bs_is_below(mount->inner, place->inner))
            os_error =
                add_name(names, rebase(mount->inner, place->inner, place->at), strdup(mount->at));
    }
    return os_error;
}

/* Return the mount in which the root lies, or NULL. */
static const struct mount *mount_of(const struct mounts *mounts, const char *root) {
    const struct mount *found = NULL;
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount *mount = &mounts->list[i];
        if (bs_is_below(root, mount->at) &&
            (found == NULL || strlen(mount->at) >= strlen(found->at)))
            found = mount;
    }
    return found;
}

int bs_mounted_names_find(const char *root, struct bs_mounted_names *names) {
    struct mounts mounts = {NULL, 0, 0};
    int os_error = read_mounts(&mounts);
    const struct mount *around = os_error == 0 ? mount_of(&mounts, root) : NULL;
    if (around != NULL) {
        char *inner = rebase(root, around->at, around->inner);
        const struct mount place = {around->device, inner, (char *)(uintptr_t)root};
        os_error = inner == NULL ? ENOMEM : add_names(&mounts, &place, names);
        free(inner);
    }
    for (size_t i = 0; os_error == 0 && i < mounts.n; i++) {
        const struct mount *mount = &mounts.list[i];
        if (mount != around && bs_is_below(mount->at, root))
            os_error = add_names(&mounts, mount, names);
    }
    clear_mounts(&mounts);
    return os_error;
}

void bs_mounted_names_clear(struct bs_mounted_names *names) {
    for (size_t i = 0; i < names->n; i++) {
        free(names->list[i].path);
        free(names->list[i].other);
    }
    free(names->list);
    *names = (struct bs_mounted_names){NULL, 0, 0};
}

bool bs_mounted_name_of(const struct bs_mounted_name *name, const char *path, char **other,
                        bool *is_dir) {
    *other = NULL;
    *is_dir = false;
    const char *file = bs_is_below(path, name->path) ? path : name->path;
    if (!bs_is_below(file, path))
        return true;
    char *made = rebase(file, name->path, name->other);
    if (made == NULL)
        return false;
    if (is_same_file(file, made, is_dir))
        *other = made;
    else
        free(made);
    return true;
}
