/* The runner of a module: a child that prepares itself and then executes the module. */
#define _GNU_SOURCE
#include <boxspec/module.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/json_text.h"
#include "base/position.h"
#include "base/sys.h"
#include "module/hiding.h"
#include "module/lookup.h"

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)fputs("module runner: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    _exit(1);
}

/* The process has one thread, because it has just been executed. */
static const char *reason(void) { return strerror(errno); }

/* Make the kernel kill the module when its parent dies. A parent that died before this call is
 * noticed by stdout: its pipe has no reader any more. */
static void die_with_the_parent(void) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct pollfd out = {.fd = STDOUT_FILENO, .events = 0};
    if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0)
        give_up("the caller has ended");
}

/* Close descriptors that the caller left open for its children. */
static void close_inherited(void) {
    errno = bs_close_from(STDERR_FILENO + 1, false);
    if (errno != 0)
        give_up("cannot close the caller's descriptors: %s", reason());
}

static void read_input(struct bs_buf *input) {
    enum { CHUNK = 256 * 1024 };
    ssize_t n = 1;
    while (n > 0) {
        if (!bs_buf_reserve(input, CHUNK))
            give_up("out of memory for the input");
        n = (ssize_t)BS_RETRY(read(STDIN_FILENO, input->data + input->len, CHUNK));
        if (n < 0)
            give_up("cannot read the input: %s", reason());
        input->len += (size_t)n;
    }
}

/* Repeated member names are not looked for: bs_module_execute has refused them. */
static void check_input(const struct bs_buf *input) {
    struct bs_json_text json = {.text = input->len > 0 ? input->data : "", .len = input->len};
    if (!bs_json_check(&json)) {
        struct bs_position where = bs_position_of(json.text, json.at);
        give_up("the input is not JSON: line %u, column %u: %s", where.line, where.column,
                json.problem);
    }
    bs_json_text_clear(&json);
}

/* Open an empty file without a name. Some filters of system calls refuse memfd_create. */
static int nameless_file(void) {
    int fd = memfd_create("module-input", MFD_CLOEXEC);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EACCES))
        return fd;
    const char *folder = getenv("TMPDIR");
    char *name;
    if (asprintf(&name, "%s/.module-input-XXXXXX", folder != NULL ? folder : "/tmp") < 0) {
        errno = ENOMEM;
        return -1;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(name);
    free(name);
    return fd;
}

/* Give the module its input as a file. With a pipe, a module that reads only a part of its input
 * would block the caller. */
static void put_on_stdin(const struct bs_buf *input) {
    int fd = nameless_file();
    size_t done = 0;
    while (fd >= 0 && done < input->len) {
        ssize_t n = (ssize_t)BS_RETRY(write(fd, input->data + done, input->len - done));
        if (n < 0)
            give_up("cannot store the input: %s", reason());
        done += (size_t)n;
    }
    if (fd < 0 || lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0)
        give_up("cannot store the input: %s", reason());
}

void bs_module_runner_main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], BS_MODULE_RUNNER) != 0)
        return;
    if (argc != 3 || !bs_module_id_is_valid(argv[2]))
        give_up("one module id is required after %s", BS_MODULE_RUNNER);
    close_inherited();
    die_with_the_parent();
    char *root = bs_module_root(NULL);
    char *file = root != NULL ? bs_module_find(root, argv[2]) : NULL;
    if (file == NULL)
        give_up("module not found: %s/%s", root != NULL ? root : "?", argv[2]);
    struct bs_buf input = BS_BUF_INIT;
    read_input(&input);
    check_input(&input);
    put_on_stdin(&input);
    bs_hiding_drop_capabilities();
    bs_buf_clear(&input);
    (void)execv(file, (char *const[]){file, NULL});
    give_up("cannot execute %s: %s", file, reason());
}
