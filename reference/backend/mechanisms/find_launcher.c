#define _GNU_SOURCE
#include "backend/mechanisms/find_launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/access.h"
#include "base/error.h"
#include "base/installed.h"

char *bs_launcher_find(const char *given, struct bs_error *err) {
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
    char *found = bs_find_installed("boxspec-launch");
    if (found == NULL)
        (void)bs_fail(err, BS_E_EXECUTION, ENOENT,
                      "boxspec-launch is neither next to the program or the library nor in "
                      "../libexec/boxspec; give its path");
    return found;
}
