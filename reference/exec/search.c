#define _GNU_SOURCE
#include "exec/search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/access.h"

static char *default_path(void) {
    size_t size = confstr(_CS_PATH, NULL, 0);
    char *path = size > 0 ? malloc(size) : NULL;
    if (path != NULL)
        (void)confstr(_CS_PATH, path, size);
    return path;
}

/* Join an entry of PATH and the name of a program. An empty entry means the current directory and
 * becomes "./", because a result without a slash would be searched for again. */
static char *join(const char *entry, size_t entry_len, const char *program) {
    const char *dir = entry_len > 0 ? entry : ".";
    size_t dir_len = entry_len > 0 ? entry_len : 1;
    size_t program_len = strlen(program);
    char *joined = malloc(dir_len + 1 + program_len + 1);
    if (joined == NULL)
        return NULL;
    memcpy(joined, dir, dir_len);
    joined[dir_len] = '/';
    memcpy(joined + dir_len + 1, program, program_len + 1);
    return joined;
}

enum candidate { ABSENT, DENIED, RUNNABLE };

static enum candidate check_candidate(int dir, const char *file) {
    struct stat st;
    if (fstatat(dir, file, &st, 0) != 0)
        return errno == EACCES ? DENIED : ABSENT;
    if (!S_ISREG(st.st_mode) || bs_may_execute(dir, file) != 0)
        return DENIED;
    return RUNNABLE;
}

int bs_search(int dir, const char *program, const char *path, char **found) {
    *found = NULL;
    if (program[0] == '\0')
        return ENOENT;
    if (strchr(program, '/') != NULL) {
        *found = strdup(program);
        return *found != NULL ? 0 : ENOMEM;
    }
    char *fallback = path == NULL ? default_path() : NULL;
    const char *entry = path != NULL ? path : fallback;
    int reason = entry != NULL ? ENOENT : ENOMEM;
    while (entry != NULL) {
        const char *colon = strchrnul(entry, ':');
        char *file = join(entry, (size_t)(colon - entry), program);
        if (file == NULL) {
            reason = ENOMEM;
            break;
        }
        enum candidate candidate = check_candidate(dir, file);
        if (candidate == RUNNABLE) {
            *found = file;
            reason = 0;
            break;
        }
        free(file);
        if (candidate == DENIED)
            reason = EACCES;
        entry = *colon == ':' ? colon + 1 : NULL;
    }
    free(fallback);
    return reason;
}
