#define _GNU_SOURCE
#include "support/mounted.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"

enum { CANNOT_MOUNT = 77 };

/* Runs in the child. */
static int remove_below_mount(const char *kept, const char *point, const char *path,
                              bool (*remove)(const char *path)) {
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(kept, point, NULL, MS_BIND, NULL) != 0)
        return CANNOT_MOUNT;
    return remove(path) ? 1 : 0;
}

bool mounted_stays(const char *point, const char *path, bool (*remove)(const char *path)) {
    char kept[] = "/tmp/boxspec-mounted-XXXXXX";
    assert_non_null(mkdtemp(kept));
    int top = open(kept, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = openat(top, "kept", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(fchmod(top, 0755), 0);
    bs_close(&file);
    pid_t child = fork();
    if (child == 0)
        _exit(remove_below_mount(kept, point, path, remove));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    struct stat st;
    bool stays = WIFEXITED(status) && WEXITSTATUS(status) == 0 && fstat(top, &st) == 0 &&
                 (st.st_mode & 07777) == 0755;
    stays = unlinkat(top, "kept", 0) == 0 && stays;
    bs_close(&top);
    assert_int_equal(rmdir(kept), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_MOUNT)
        skip();
    return stays;
}
