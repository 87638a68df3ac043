#define _GNU_SOURCE
#include <boxspec/sbpl.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/access.h"
#include "base/error.h"
#include "sbpl/flags.h"

static const char bare[] =
    BS_SBPL_WRAPPER " is missing: the command runs without the sandbox of the policy";

/* Look for the wrapper only at this path. If PATH were searched, a user who can write to a
 * directory of PATH could put a program there that confines nothing. */
static bool is_present(enum bs_sbpl_wrapper wrapper) {
    struct stat st;
    if (wrapper != BS_WRAPPER_LOOK)
        return wrapper == BS_WRAPPER_PRESENT;
    return stat(BS_SBPL_WRAPPER, &st) == 0 && S_ISREG(st.st_mode) &&
           bs_may_execute(AT_FDCWD, BS_SBPL_WRAPPER) == 0;
}

/* Copy the words into one block: first the pointers, then the strings. Returns NULL if memory ran
 * out. */
static char **copy(const char *const *words, size_t n) {
    /* cannot overflow, because this many pointers exist already */
    size_t size = (n + 1) * sizeof(char *);
    for (size_t i = 0; i < n; i++)
        size += strlen(words[i]) + 1;
    char **argv = malloc(size);
    if (argv == NULL)
        return NULL;
    char *text = (char *)(argv + n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(words[i]) + 1;
        argv[i] = memcpy(text, words[i], len);
        text += len;
    }
    argv[n] = NULL;
    return argv;
}

static size_t put_active(const struct bs_sbpl_command *command, size_t n, const char **words) {
    words[0] = BS_SBPL_WRAPPER;
    words[1] = "-f";
    words[2] = command->file;
    return 3 + bs_flags_neutralize(command->provider, command->argv, n, words + 3);
}

int bs_sbpl_wrap(const struct bs_sbpl_command *command, struct bs_sbpl_wrapped *wrapped,
                 struct bs_error *err) {
    bool active = is_present(command->wrapper);
    size_t n = 0;
    while (command->argv[n] != NULL)
        n++;
    if (n == 0 || command->argv[0][0] == '\0')
        return bs_fail(err, BS_E_INVALID, 0, "argv: there is no program; name one");
    if (command->file[0] != '/')
        return bs_fail(err, BS_E_INVALID, 0,
                       "file: `%.400s` is not absolute; name the profile's file from `/` on",
                       command->file);
    if (!active && !command->allow_fallback)
        return bs_fail(err, BS_E_EXECUTION, 0,
                       "%s is missing, so the command cannot be sandboxed; run on macOS, or "
                       "allow the fallback",
                       BS_SBPL_WRAPPER);
    /* Refuse a program name with a dash. The wrapper reads words with a dash as its options, and
     * `-p` would replace the profile. */
    if (active && command->argv[0][0] == '-')
        return bs_fail(
            err, BS_E_INVALID, 0,
            "argv: `%.400s` would be an option of %s; name the program by its path, with "
            "`./` or `/` in front",
            command->argv[0], BS_SBPL_WRAPPER);
    const char **words = calloc(n + BS_FLAGS_MORE + 3, sizeof *words);
    char **argv = NULL;
    if (words != NULL && active)
        argv = copy(words, put_active(command, n, words));
    else if (words != NULL)
        argv = copy(command->argv, n);
    free((void *)words);
    if (argv == NULL)
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a command of %zu words", n);
    *wrapped = (struct bs_sbpl_wrapped){argv, active, active ? NULL : bare};
    return BS_OK;
}

void bs_sbpl_wrapped_clear(struct bs_sbpl_wrapped *wrapped) {
    free((void *)wrapped->argv);
    *wrapped = (struct bs_sbpl_wrapped)BS_SBPL_WRAPPED_INIT;
}
