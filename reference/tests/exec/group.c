/* Tests finding the members of a group if /proc cannot be read completely. A live member must not
 * count as ended. */
#define _GNU_SOURCE
#include "exec/group.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"

ssize_t __real_read(int fd, void *data, size_t len);
ssize_t __wrap_read(int fd, void *data, size_t len);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
struct dirent *__real_readdir(DIR *list);
struct dirent *__wrap_readdir(DIR *list);

static struct {
    int read;
    int opendir;
    int readdir;
} fails; /* an errno, or 0 for success */

static bool failing(int os_error) {
    errno = os_error;
    return os_error != 0;
}

ssize_t __wrap_read(int fd, void *data, size_t len) {
    return failing(fails.read) ? -1 : __real_read(fd, data, len);
}

DIR *__wrap_opendir(const char *path) {
    return failing(fails.opendir) ? NULL : __real_opendir(path);
}

struct dirent *__wrap_readdir(DIR *list) {
    return failing(fails.readdir) ? NULL : __real_readdir(list);
}

static pid_t group;

static struct bs_members look_at_group(void) {
    struct bs_members members = bs_group_find_members(group, 0, UINT64_MAX);
    fails.read = fails.opendir = fails.readdir = 0;
    return members;
}

static int start(void **state) {
    if (remember_holdings(state) != 0)
        return -1;
    group = fork();
    if (group == 0) {
        for (;;)
            (void)pause();
    }
    return group > 0 ? setpgid(group, group) : -1;
}

static int end(void **state) {
    (void)kill(group, SIGKILL);
    (void)waitpid(group, NULL, 0);
    return assert_nothing_left_since(state);
}

static void a_member_is_seen(void **state) {
    (void)state;
    struct bs_members members = look_at_group();
    assert_true(members.known);
    assert_int_equal(members.alive, 1);
    assert_int_equal(members.live_pid, group);
}

static void an_unreadable_member_counts_as_alive(void **state) {
    (void)state;
    fails.read = EIO;
    struct bs_members members = look_at_group();
    assert_true(members.known);
    assert_int_equal(members.alive, 1);
    assert_int_equal(members.live_pid, 0);
}

static void a_member_that_ended_meanwhile_is_gone(void **state) {
    (void)state;
    fails.read = ESRCH;
    struct bs_members members = look_at_group();
    assert_true(members.known);
    assert_int_equal(members.alive, 0);
}

static void an_incomplete_list_of_processes_is_reported_as_unknown(void **state) {
    (void)state;
    fails.readdir = EIO;
    assert_false(look_at_group().known);
    fails.opendir = EMFILE;
    assert_false(look_at_group().known);
}

#define WITH_GROUP(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_GROUP(a_member_is_seen),
        WITH_GROUP(an_unreadable_member_counts_as_alive),
        WITH_GROUP(a_member_that_ended_meanwhile_is_gone),
        WITH_GROUP(an_incomplete_list_of_processes_is_reported_as_unknown),
    };
    return cmocka_run_group_tests_name("exec/group", tests, NULL, NULL);
}
