#define _GNU_SOURCE
#include <boxspec/sbpl.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"

/* Controls the next calls: the one with this number, counted from 1, fails, or each does as little
 * as it may. */
static struct {
    unsigned fail_write_at;
    bool fail_fchmod;
    bool write_little;
    unsigned writes;
    int flags;
} calls;

ssize_t __real_write(int fd, const void *data, size_t len);
int __real_fchmod(int fd, mode_t mode);
int __real_mkostemps(char *name, int suffix, int flags);
ssize_t __wrap_write(int fd, const void *data, size_t len);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_mkostemps(char *name, int suffix, int flags);

ssize_t __wrap_write(int fd, const void *data, size_t len) {
    if (fd <= 2)
        return __real_write(fd, data, len);
    calls.writes++;
    if (calls.writes == calls.fail_write_at) {
        errno = ENOSPC;
        return -1;
    }
    if (calls.write_little && calls.writes % 2 == 1) {
        errno = EINTR;
        return -1;
    }
    return __real_write(fd, data, calls.write_little && len > 3 ? 3 : len);
}

int __wrap_fchmod(int fd, mode_t mode) {
    errno = EPERM;
    return calls.fail_fchmod ? -1 : __real_fchmod(fd, mode);
}

int __wrap_mkostemps(char *name, int suffix, int flags) {
    calls.flags = flags;
    return __real_mkostemps(name, suffix, flags);
}

static int set_up(void **state) {
    memset(&calls, 0, sizeof calls);
    return folder_setup(state);
}

static unsigned names_in(const char *path) {
    unsigned n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        n++;
    (void)closedir(dir);
    return n - 2; /* without `.` and `..` */
}

static void assert_holds(const char *path, const char *text) {
    char held[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, held, sizeof held);
    (void)close(fd);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(held, text, strlen(text));
}

static void only_the_owner_can_read_the_file(void **state) {
    const struct folder *folder = *state;
    static const mode_t umasks[] = {0, 022, 077, 0277, 0777};
    struct holdings before = holdings_now();
    for (size_t i = 0; i < LENGTH(umasks); i++) {
        struct bs_sbpl_file file = BS_SBPL_FILE_INIT;
        struct bs_error err = BS_ERROR_INIT;
        struct stat st;
        mode_t umask_before = umask(umasks[i]);
        int code = bs_sbpl_file_make(folder->path, "(version 1)\n", 12, &file, &err);
        (void)umask(umask_before);
        if (code != BS_OK)
            fail_msg("%s", err.message);
        assert_int_equal(stat(file.path, &st), 0);
        assert_int_equal(st.st_mode, S_IFREG | 0600);
        assert_int_equal(strncmp(file.path, folder->path, strlen(folder->path)), 0);
        assert_holds(file.path, "(version 1)\n");
        assert_true((calls.flags & O_CLOEXEC) != 0);
        bs_sbpl_file_remove(&file);
        bs_sbpl_file_remove(&file);
        assert_int_equal(names_in(folder->path), 0);
    }
    assert_nothing_left(before);
}

static void each_call_makes_a_new_file(void **state) {
    const struct folder *folder = *state;
    struct bs_sbpl_file files[2] = {BS_SBPL_FILE_INIT, BS_SBPL_FILE_INIT};
    for (size_t i = 0; i < LENGTH(files); i++)
        assert_int_equal(bs_sbpl_file_make(folder->path, "", 0, &files[i], NULL), BS_OK);
    assert_string_not_equal(files[0].path, files[1].path);
    bs_sbpl_file_remove(&files[0]);
    assert_int_equal(access(files[1].path, F_OK), 0);
    bs_sbpl_file_remove(&files[1]);
}

static void interrupted_and_short_writes_are_continued(void **state) {
    const struct folder *folder = *state;
    struct bs_sbpl_file file = BS_SBPL_FILE_INIT;
    calls.write_little = true;
    assert_int_equal(bs_sbpl_file_make(folder->path, "0123456789", 10, &file, NULL), BS_OK);
    assert_holds(file.path, "0123456789");
    bs_sbpl_file_remove(&file);
}

static void a_failure_leaves_no_file(void **state) {
    const struct folder *folder = *state;
    struct bs_sbpl_file file = BS_SBPL_FILE_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct holdings before = holdings_now();
    assert_int_equal(bs_sbpl_file_make("relative", "x", 1, &file, &err), BS_E_INVALID);
    assert_int_equal(bs_sbpl_file_make("", "x", 1, &file, &err), BS_E_INVALID);
    assert_int_equal(bs_sbpl_file_make("/no/such/folder", "x", 1, &file, &err), BS_E_IO);
    assert_int_equal(err.os_error, ENOENT);
    assert_non_null(strstr(err.message, "/no/such/folder: "));
    for (unsigned at = 1; at <= 2; at++) {
        calls.writes = 0;
        calls.fail_write_at = at;
        calls.write_little = at == 2;
        assert_int_equal(bs_sbpl_file_make(folder->path, "0123456789", 10, &file, &err), BS_E_IO);
        assert_int_equal(err.os_error, ENOSPC);
    }
    calls.fail_write_at = 0;
    calls.fail_fchmod = true;
    assert_int_equal(bs_sbpl_file_make(folder->path, "x", 1, &file, &err), BS_E_IO);
    assert_int_equal(err.os_error, EPERM);
    assert_null(file.path);
    assert_int_equal(names_in(folder->path), 0);
    assert_nothing_left(before);
}

/* Make a file of a text, and return true if a program may write to the file. Every `%` in the text
 * stands for the folder. */
static bool is_writable(const char *folder, const char *clauses) {
    struct bs_sbpl_file file = BS_SBPL_FILE_INIT;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    for (; *clauses != '\0'; clauses++) {
        if (*clauses == '%')
            (void)fputs(folder, out);
        else
            (void)fputc(*clauses, out);
    }
    assert_int_equal(fclose(out), 0);
    assert_int_equal(bs_sbpl_file_make(folder, text, len, &file, NULL), BS_OK);
    bool writable = file.writable;
    bs_sbpl_file_remove(&file);
    assert_false(file.writable);
    free(text);
    return writable;
}

static void the_last_clause_about_the_file_decides_if_it_is_writable(void **state) {
    static const char *const allow[] = {
        "(allow file-write* (subpath \"%\"))",
        "(allow file-write* (subpath \"%/\"))",
        "(allow file-write* (subpath \"/\"))",
        "(allow\n ; a comment\n file-read* file-write-data\n (subpath \"/usr\")\n (subpath \"%\"))",
        "(allow default)",
        "(allow file*)",
        "(allow file-write* (regex \"^%/[^/]*\\\\.sb$\"))",
        "(allow file-write* (regex \"^/usr|.*\\\\.sb$\"))",
        "(allow file-write* (regex \"^/?/*(.*/)?[^/]+$\"))",
        "(allow file-write* (require-all (subpath \"/\") (require-not (literal \"%\"))))",
        "(allow file-write* (require-any (subpath \"/x\") (subpath \"%\")))",
        "(deny file-write* (subpath \"%\"))(allow file-write* (subpath \"%\"))",
        "(allow file-write* (subpath \"%\"))(deny file-write* (subpath \"%2\") (subpath \"%/a\"))",
        /* An unknown form makes the file count as writable. */
        "(allow file-write* (vnode-type REGULAR-FILE))",
        "(allow file-write* (regex \"[\"))",
        "(allow file-write* (subpath x))",
        "(allow file-write* (subpath \"%\"))(deny file-write* (vnode-type SYMLINK))",
    };
    static const char *const deny[] = {
        "",
        "(allow file-read* (subpath \"%\"))",
        "(allow file-write* (literal \"%\"))",
        "(allow file-write* (subpath \"%/a\"))",
        "(allow file-write* (subpath \"%2\"))",
        "(allow file-write* (regex \"^%/[^/]*\\\\.c$\"))",
        "(allow file-write* (regex \"^/usr/.*$\"))",
        "(allow file-write* (require-all (subpath \"%\") (subpath \"/usr\")))",
        "; (allow file-write*)",
        "(allow file-read* (literal \"(allow file-write*)\"))",
        "(allow file-write* (subpath \"%\"))(deny file-write* (subpath \"%\"))",
        "(allow file-write* (subpath \"%\"))(deny default)",
        ") \"(allow file-write*)\" x (allow",
        "(",
        "(allow file-read* (literal \"",
    };
    const struct folder *folder = *state;
    for (size_t i = 0; i < LENGTH(allow); i++)
        if (!is_writable(folder->path, allow[i]))
            fail_msg("not writable: %s", allow[i]);
    for (size_t i = 0; i < LENGTH(deny); i++)
        if (is_writable(folder->path, deny[i]))
            fail_msg("writable: %s", deny[i]);
}

static void an_expression_without_a_bound_is_unknown(void **state) {
    const struct folder *folder = *state;
    static const char *const clauses[] = {
        "(allow file-write* (regex \"^/((((.{1,200}){1,200}){1,200}){1,200})x$\"))",
        "(allow file-write* (regex \"^/(.*)*(.*)*(.*)+x$\"))",
        "(allow file-write* (regex \"^/(.*)\\\\1x$\"))",
    };
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
        assert_true(is_writable(folder->path, clauses[i]));
    assert_false(is_writable(folder->path, "(allow file-write* (regex \"^/.*\\\\{x\\\\)*$\"))"));
}

static void no_text_makes_the_answer_slow(void **state) {
    enum { MANY = 20000, DEEP = 200000 };
    static const char clause[] = "(allow file-write* (regex \"^/(a|.)?.*x$\"))\n";
    const struct folder *folder = *state;
    char *text = malloc(MANY * sizeof clause + 1);
    assert_non_null(text);
    for (size_t i = 0; i < MANY; i++)
        memcpy(text + i * (sizeof clause - 1), clause, sizeof clause);
    /* Beyond the limit of expressions the answer is unknown, so the file counts as writable. */
    assert_true(is_writable(folder->path, text));
    memset(text, '(', DEEP);
    text[DEEP] = '\0';
    memcpy(text, "(allow file-write* ", 19);
    assert_true(is_writable(folder->path, text));
    free(text);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, set_up, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_folder(only_the_owner_can_read_the_file),
        in_a_folder(each_call_makes_a_new_file),
        in_a_folder(interrupted_and_short_writes_are_continued),
        in_a_folder(a_failure_leaves_no_file),
        in_a_folder(the_last_clause_about_the_file_decides_if_it_is_writable),
        in_a_folder(an_expression_without_a_bound_is_unknown),
        in_a_folder(no_text_makes_the_answer_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
