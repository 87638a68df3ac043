#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/session/private_dir.h"
#include "base/sys.h"
#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/mounted.h"

/* Selects the call that fails, counted from 1; 0 lets all calls succeed. */
static struct {
    unsigned fail;
    unsigned calls;
} host;

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
int __real_unlinkat(int dir, const char *path, int flags);
int __wrap_unlinkat(int dir, const char *path, int flags);

static bool fails(void) {
    bool now = ++host.calls == host.fail;
    if (now)
        errno = ENOMEM;
    return now;
}

int __wrap_openat(int dir, const char *path, int flags, ...) {
    return fails() ? -1 : __real_openat(dir, path, flags);
}

DIR *__wrap_fdopendir(int fd) { return fails() ? NULL : __real_fdopendir(fd); }

int __wrap_unlinkat(int dir, const char *path, int flags) {
    return fails() ? -1 : __real_unlinkat(dir, path, flags);
}

static void a_failed_call_leaves_no_directory(void **state) {
    (void)state;
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    bool reached = true;
    unsigned tried = 0;
    for (unsigned n = 1; reached; n++) {
        struct bs_private_dir place = BS_PRIVATE_DIR_INIT;
        struct bs_error err = BS_ERROR_INIT;
        assert_int_equal(bs_private_dir_make(&context, NULL, &place, &err), BS_OK);
        assert_int_equal(bs_private_dir_add_file(place.path, "plan", "x", 1, 0400, &err), BS_OK);
        assert_int_equal(bs_private_dir_add_dir(place.path, "tmp", 0700, &err), BS_OK);
        char *again = strdup(place.path);
        host.fail = n;
        host.calls = 0;
        assert_int_equal(bs_private_dir_remove(&place, &err), BS_OK);
        reached = host.calls >= n;
        tried += reached;
        host.fail = 0;
        assert_int_equal(access(again, F_OK), -1);
        free(again);
    }
    /* There are at least seven calls: two directories are opened, read and removed, and a file is
     * removed. */
    assert_true(tried >= 7);
}

/* The tree has more levels than there are descriptors. Each level has a file, one level has a name
 * like those that the library chooses itself, and the last directory may not be entered. */
static void a_tree_of_any_depth_is_removed(void **state) {
    enum { DEEP = 1000, FEW = 64 };
    (void)state;
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_private_dir place = BS_PRIVATE_DIR_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct rlimit before;
    host.fail = 0;
    assert_int_equal(bs_private_dir_make(&context, NULL, &place, &err), BS_OK);
    assert_int_equal(bs_private_dir_add_file(place.path, ".0", "x", 1, 0400, &err), BS_OK);
    int dir = open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < DEEP; i++) {
        assert_int_equal(mkdirat(dir, "d", 0700), 0);
        assert_int_equal(mknodat(dir, "f", S_IFREG | 0600, 0), 0);
        int next = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        bs_close(&dir);
        dir = next;
    }
    assert_int_equal(mkdirat(dir, "sealed", 0), 0);
    bs_close(&dir);
    char *again = strdup(place.path);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {FEW, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int code = bs_private_dir_remove(&place, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    bool gone = access(again, F_OK) != 0;
    free(again);
    if (code != BS_OK)
        fail_msg("%s", err.message);
    assert_true(gone);
}

/* Start a process that holds a private directory until the process is killed. The directory
 * contains a name that no program in a sandbox could write, and a directory that may not be
 * entered. */
static pid_t holder(struct bs_private_dir *place) {
    int path_pipe[2];
    char path[PATH_MAX] = "";
    assert_int_equal(pipe2(path_pipe, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
        char *sealed = NULL;
        bool good = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
                    bs_private_dir_make(&context, NULL, place, NULL) == BS_OK &&
                    bs_private_dir_add_file(place->path, "plan", "x", 1, 0400, NULL) == BS_OK &&
                    bs_private_dir_add_dir(place->path, "tmp", 0700, NULL) == BS_OK &&
                    asprintf(&sealed, "%s/tmp/sealed", place->path) >= 0 && mkdir(sealed, 0) == 0;
        good = good && write(path_pipe[1], place->path, strlen(place->path)) > 0;
        bs_close(&path_pipe[1]);
        for (;;) {
            if (!good)
                _exit(1);
            (void)pause();
        }
    }
    assert_true(pid > 0);
    bs_close(&path_pipe[1]);
    assert_true(read(path_pipe[0], path, sizeof path - 1) > 0);
    bs_close(&path_pipe[0]);
    place->path = strdup(path);
    return pid;
}

static void kill_now(pid_t pid) {
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void directories_of_a_killed_caller_are_removed_at_the_next_start(void **state) {
    struct folder *folder = *state;
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_private_dir first = BS_PRIVATE_DIR_INIT;
    struct bs_private_dir other = BS_PRIVATE_DIR_INIT;
    struct bs_private_dir mine = BS_PRIVATE_DIR_INIT;
    char link[PATH_MAX];
    char kept[PATH_MAX];
    pid_t killed = holder(&first);
    pid_t lives = holder(&other);
    folder_add_folder(folder, "elsewhere");
    folder_add_folder(folder, "boxspec-abcdef");
    folder_add_folder(folder, "sandbox-of-boxspec-abcdefg");
    (void)snprintf(kept, sizeof kept, "%s/elsewhere", folder->path);
    (void)snprintf(link, sizeof link, "%s/sandbox-of-boxspec-abcdef", folder->path);
    assert_int_equal(symlink(kept, link), 0);
    kill_now(killed);
    assert_int_equal(access(first.path, F_OK), 0);
    assert_int_equal(bs_private_dir_make(&context, NULL, &mine, NULL), BS_OK);
    assert_int_equal(access(first.path, F_OK), -1);
    assert_int_equal(access(other.path, F_OK), 0);
    assert_int_equal(access(mine.path, F_OK), 0);
    assert_int_equal(access(link, F_OK), 0);
    (void)snprintf(kept, sizeof kept, "%s/boxspec-abcdef", folder->path);
    assert_int_equal(access(kept, F_OK), 0);
    (void)snprintf(kept, sizeof kept, "%s/sandbox-of-boxspec-abcdefg", folder->path);
    assert_int_equal(access(kept, F_OK), 0);
    kill_now(lives);
    assert_int_equal(bs_private_dir_remove(&mine, NULL), BS_OK);
    assert_int_equal(bs_private_dir_make(&context, NULL, &mine, NULL), BS_OK);
    assert_int_equal(access(other.path, F_OK), -1);
    assert_int_equal(bs_private_dir_remove(&mine, NULL), BS_OK);
    assert_int_equal(bs_private_dir_remove(&mine, NULL), BS_OK);
    free(first.path);
    free(other.path);
}

static bool remove_tree(const char *path) { return bs_remove_tree(AT_FDCWD, path, BS_NEVER) == 0; }

static void a_mount_in_the_directory_is_not_entered(void **state) {
    (void)state;
    char top[] = "/tmp/boxspec-private-XXXXXX", point[PATH_MAX];
    assert_non_null(mkdtemp(top));
    (void)snprintf(point, sizeof point, "%s/point", top);
    assert_int_equal(mkdir(point, 0700), 0);
    bool stays = mounted_stays(point, top, remove_tree) && mounted_stays(top, top, remove_tree);
    assert_int_equal(bs_remove_tree(AT_FDCWD, top, BS_NEVER), 0);
    assert_true(stays);
}

/* Run the tests in directories that no other program uses. */
static int in_a_folder(void **state) {
    void *folder = NULL;
    if (folder_setup(&folder) != 0)
        return -1;
    *state = folder;
    (void)unsetenv("XDG_RUNTIME_DIR");
    return setenv("TMPDIR", ((struct folder *)folder)->path, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_failed_call_leaves_no_directory),
        leaves_nothing(a_tree_of_any_depth_is_removed),
        leaves_nothing(a_mount_in_the_directory_is_not_entered),
        cmocka_unit_test_setup_teardown(
            directories_of_a_killed_caller_are_removed_at_the_next_start, in_a_folder,
            folder_teardown)};
    return cmocka_run_group_tests_name("backend/private_dir", tests, NULL, NULL);
}
