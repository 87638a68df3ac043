#define _GNU_SOURCE
#include "base/installed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/access.h"

/* Places in a build tree and in an installation, relative to the directory of the program or of the
 * library. */
static const char *const places[] = {"", "../", "../libexec/boxspec/", "../../libexec/boxspec/"};

static char *find_next_to(const char *file, const char *name) {
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    if (slash == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = NULL;
        if (asprintf(&path, "%.*s/%s%s", (int)(slash - file), file, places[i], name) < 0)
            return NULL;
        char *real = bs_may_execute(AT_FDCWD, path) == 0 ? realpath(path, NULL) : NULL;
        free(path);
        if (real != NULL)
            return real;
    }
    return NULL;
}

char *bs_find_installed(const char *name) {
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *found = find_next_to(program, name);
    Dl_info info;
    static const char here = 0;
    if (found == NULL && dladdr(&here, &info) != 0 && info.dli_fname != NULL) {
        char *library = realpath(info.dli_fname, NULL);
        found = find_next_to(library, name);
        free(library);
    }
    return found;
}
