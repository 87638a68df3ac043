/* Profiles for Seatbelt, the sandbox of macOS. The compiler writes a profile of a policy as text
 * for sandbox-exec, and makes the command that runs a program under it.
 *
 *   1. Fill a struct bs_sbpl_input from BS_SBPL_INPUT_INIT with a compiled profile
 *      (boxspec/profile.h), the root and the environment.
 *   2. Call bs_sbpl_compile. If it returns 0, *sbpl has the text. If it returns a negative code,
 *      *sbpl is untouched.
 *   3. Call bs_sbpl_file_make. It writes the text to a file that no other user can change.
 *   4. Call bs_sbpl_wrap. It makes the command. Run it, and wait until it ends.
 *   5. Call bs_sbpl_wrapped_clear, bs_sbpl_file_remove and bs_sbpl_clear; each may be called any
 *      number of times.
 *
 * All functions work on any system, so that a policy can be inspected anywhere. No call keeps its
 * input. Any number of threads may call the functions at once. The first compile of a profile with
 * BS_FOLD reads the tables of Unicode, and later compiles of the process use them again.
 *
 * Rules come from the sbpl contract, conformance/contracts/sbpl/page.md; the ids there (SBPL-...)
 * name them. */
#ifndef BOXSPEC_SBPL_H
#define BOXSPEC_SBPL_H

#include <stdbool.h>
#include <stddef.h>

#include <boxspec/bytes.h>
#include <boxspec/error.h>
#include <boxspec/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BS_SBPL_WRAPPER "/usr/bin/sandbox-exec"
#define BS_SBPL_STRING_BYTES                                                                       \
    1000 /* longest string between two quotes, counted as it is written                            \
          */
#define BS_SBPL_MOST_BYTES (8UL * 1024 * 1024) /* longest profile text */

enum bs_provider { BS_PROVIDER_NONE, BS_PROVIDER_CODEX, BS_PROVIDER_CLAUDE, BS_PROVIDER_GEMINI };

/* Convert "codex", "claude" or "gemini". Returns false for any other word; *provider is untouched
 * then. */
BS_EXPORT bool bs_sbpl_provider(const char *name, enum bs_provider *provider);

/* All members are used only during the call. Paths are NUL-terminated UTF-8, absolute and
 * canonical: without links, `.` and `..`. Doubled and trailing slashes are removed. A path at or
 * below /tmp, /var or /etc is refused, because these are links on macOS. The error message names
 * the path that the kernel uses. */
struct bs_sbpl_input {
    /* if the profile was compiled with BS_FOLD, every filter ignores case */
    const struct bs_profile *profile;
    const char *root; /* the root of the workspace */
    const char *home; /* NULL or "" if not set; the same holds for the next two paths */
    const char *codex_home;
    const char *claude_config_dir;
    /* each is checked for every provider, but made writable only for codex */
    const char *const *side_roots;
    size_t n_side_roots;
    enum bs_provider provider;
};

#define BS_SBPL_INPUT_INIT                                                                         \
    { 0, 0, 0, 0, 0, 0, 0, BS_PROVIDER_NONE }

struct bs_sbpl {
    struct bs_bytes text; /* UTF-8, one clause a line */
    /* The entries of denyRead that begin with a wildcard. They have a weakness: a program can
     * rename a directory above a matching path, and then the path no longer matches. The profile
     * owns the entries; this struct owns the list. */
    const struct bs_entry **unguarded;
    size_t n_unguarded;
};

#define BS_SBPL_INIT                                                                               \
    { BS_BYTES_INIT, 0, 0 }

/* Returns 0; BS_E_INVALID with a message that has the field, the refused value and the remedy; or
 * BS_E_EXECUTION if memory ran out. The profile must outlive *sbpl. */
BS_EXPORT int bs_sbpl_compile(const struct bs_sbpl_input *input, struct bs_sbpl *sbpl,
                              struct bs_error *err);
BS_EXPORT void bs_sbpl_clear(struct bs_sbpl *sbpl);

/* A file of mode 0600 that holds the text while the command runs. */
struct bs_sbpl_file {
    char *path; /* absolute; NULL: no file */
    /* True if the text allows a sandboxed program to write to this file. Such a program could
     * change the rules of the next program that uses the file, so the caller should warn or choose
     * another directory. */
    bool writable;
};

#define BS_SBPL_FILE_INIT                                                                          \
    { 0, false }

/* Write the text to a new file. `dir` is the absolute path of a directory that no other user should
 * be able to write to. Returns 0, BS_E_INVALID for a relative path, BS_E_IO if the file cannot be
 * made or written (no file is left then), or BS_E_EXECUTION if memory ran out. */
BS_EXPORT int bs_sbpl_file_make(const char *dir, const char *text, size_t len,
                                struct bs_sbpl_file *file, struct bs_error *err);
BS_EXPORT void bs_sbpl_file_remove(struct bs_sbpl_file *file);

enum bs_sbpl_wrapper {
    BS_WRAPPER_LOOK,    /* check that BS_SBPL_WRAPPER exists and is executable */
    BS_WRAPPER_PRESENT, /* assume that it exists, if the command is only printed */
    BS_WRAPPER_MISSING
};

struct bs_sbpl_command {
    const char *const *argv; /* ends in NULL; argv[0] is the program */
    const char *file;        /* absolute path of the profile's file */
    enum bs_provider provider;
    /* if the wrapper is missing, return the plain command instead of an error */
    bool allow_fallback;
    enum bs_sbpl_wrapper wrapper;
};

struct bs_sbpl_wrapped {
    char **argv;         /* ends in NULL */
    bool active;         /* false: `argv` is the given command, without the wrapper */
    const char *warning; /* a static string; NULL if `active` */
};

#define BS_SBPL_WRAPPED_INIT                                                                       \
    { 0, false, 0 }

/* Returns 0; BS_E_INVALID for an empty command, a relative path of the file, or a program that
 * begins with `-`, which the wrapper would read as an option; or BS_E_EXECUTION if memory ran out,
 * or if the wrapper is missing and no fallback is allowed. After an error *wrapped is untouched. */
BS_EXPORT int bs_sbpl_wrap(const struct bs_sbpl_command *command, struct bs_sbpl_wrapped *wrapped,
                           struct bs_error *err);
BS_EXPORT void bs_sbpl_wrapped_clear(struct bs_sbpl_wrapped *wrapped);

#ifdef __cplusplus
}
#endif
#endif
