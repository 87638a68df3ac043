#define _GNU_SOURCE
#include "base/access.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"

/* True if a simulated filter refuses faccessat2, which the C library uses for each query. */
static bool refused;
/* The ids that the process pretends to have. */
static struct {
    bool pretends;
    uid_t user;
    uid_t effective_user;
} us;

int __real_faccessat(int dir, const char *path, int mode, int flags);
int __wrap_faccessat(int dir, const char *path, int mode, int flags);
uid_t __real_getuid(void);
uid_t __wrap_getuid(void);
uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

int __wrap_faccessat(int dir, const char *path, int mode, int flags) {
    if (refused) {
        errno = EPERM;
        return -1;
    }
    return __real_faccessat(dir, path, mode, flags);
}

uid_t __wrap_getuid(void) { return us.pretends ? us.user : __real_getuid(); }

uid_t __wrap_geteuid(void) { return us.pretends ? us.effective_user : __real_geteuid(); }

static void the_first_matching_class_of_users_decides(void **state) {
    (void)state;
    static const gid_t groups[] = {20, 30};
    static const struct {
        uid_t user;
        mode_t mode;
        uid_t owner;
        gid_t group;
        bool expected;
    } rows[] = {
        {5, S_IFREG | 0100, 5, 20, true},  {5, S_IFREG | 0011, 5, 20, false},
        {5, S_IFREG | 0010, 6, 20, true},  {5, S_IFREG | 0010, 6, 30, true},
        {5, S_IFREG | 0101, 6, 30, false}, {5, S_IFREG | 0001, 6, 40, true},
        {5, S_IFREG | 0110, 6, 40, false}, {5, S_IFREG | 0666, 6, 40, false},
        {0, S_IFREG | 0001, 6, 40, true},  {0, S_IFREG | 0666, 0, 20, false},
        {0, S_IFDIR, 6, 40, true},         {5, S_IFDIR | 0110, 6, 40, false},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct stat st = {
            .st_mode = rows[i].mode, .st_uid = rows[i].owner, .st_gid = rows[i].group};
        struct bs_identity who = {rows[i].user, groups, LENGTH(groups)};
        if (bs_mode_lets_execute(&st, &who) != rows[i].expected)
            fail_msg("row %zu", i);
    }
}

static void answers_are_the_same_with_and_without_a_filter(void **state) {
    const struct folder *folder = *state;
    folder_add_file(folder, "yes", "", 0700);
    folder_add_file(folder, "no", "", 0600);
    folder_add_folder(folder, "dir");
    for (int filtered = 0; filtered <= 1; filtered++) {
        refused = filtered != 0;
        assert_int_equal(bs_may_execute(folder->fd, "yes"), 0);
        assert_int_equal(bs_may_execute(folder->fd, "no"), EACCES);
        assert_int_equal(bs_may_execute(folder->fd, "none"), ENOENT);
        assert_int_equal(bs_may_execute(folder->fd, "yes/none"), ENOTDIR);
        assert_int_equal(bs_may_execute(folder->fd, "dir"), 0);
    }
    refused = false;
}

/* If faccessat2 is refused and the real and effective ids differ, only the mode bits can decide. */
static void under_a_filter_the_effective_user_counts(void **state) {
    const struct folder *folder = *state;
    uid_t owner = __real_getuid();
    folder_add_file(folder, "ours", "", 0700);
    folder_add_file(folder, "theirs", "", 0601);
    refused = true;
    us.pretends = true;
    us.user = owner + 1;
    us.effective_user = owner;
    assert_int_equal(bs_may_execute(folder->fd, "ours"), 0);
    us.user = owner;
    us.effective_user = owner + 1;
    assert_int_equal(bs_may_execute(folder->fd, "ours"), EACCES);
    assert_int_equal(bs_may_execute(folder->fd, "none"), ENOENT);
    us.pretends = false;
    refused = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_matching_class_of_users_decides),
        cmocka_unit_test_setup_teardown(answers_are_the_same_with_and_without_a_filter,
                                        folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(under_a_filter_the_effective_user_counts, folder_setup,
                                        folder_teardown),
    };
    return cmocka_run_group_tests_name("base/access", tests, NULL, NULL);
}
