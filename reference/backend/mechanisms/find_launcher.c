#define _GNU_SOURCE
#include "backend/mechanisms/find_launcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/access.h"
#include "base/error.h"

#include <fcntl.h>

/* Places of the launcher in a build tree and in an installation, relative to the directory of the
 * program or of the library. */
static const char *const candidates[] = {"boxspec-launch", "../boxspec-launch",
                                         "../libexec/boxspec/boxspec-launch",
                                         "../../libexec/boxspec/boxspec-launch"};

static char *find_next_to(const char *file) {
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    if (slash == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        char *path = NULL;
        if (asprintf(&path, "%.*s/%s", (int)(slash - file), file, candidates[i]) < 0)
            return NULL;
        char *real = bs_may_execute(AT_FDCWD, path) == 0 ? realpath(path, NULL) : NULL;
        free(path);
        if (real != NULL)
            return real;
    }
    return NULL;
}

char *bs_launcher_find(const char *given, struct bs_error *err) {
    char program[PATH_MAX];
    if (given != NULL) {
        char *real = realpath(given, NULL);
        if (real == NULL || bs_may_execute(AT_FDCWD, real) != 0) {
            (void)bs_fail(err, BS_E_EXECUTION, errno, "the launcher `%.900s` cannot be executed",
                          given);
            free(real);
            return NULL;
        }
        return real;
    }
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *found = find_next_to(program);
    Dl_info info;
    static const char here = 0;
    if (found == NULL && dladdr(&here, &info) != 0 && info.dli_fname != NULL) {
        char *library = realpath(info.dli_fname, NULL);
        found = find_next_to(library);
        free(library);
    }
    if (found == NULL)
        (void)bs_fail(err, BS_E_EXECUTION, ENOENT,
                      "boxspec-launch is neither next to the program or the library nor in "
                      "../libexec/boxspec; give its path");
    return found;
}
