/* A library that is loaded before libc and makes the nth call of one kind fail once. Its state is
 * in a file that forked children share, so that there is only one failure in all processes
 * together:
 *
 * BOXSPEC_FAULT_FILE  a file of sizeof(struct state) bytes; without it no call fails
 *
 * Programs that the shim executes inherit neither the file nor this library. If the program exits
 * normally, the file records which descriptors are open and how many allocations were not freed. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC visibility push(default)

/* The kinds of calls, in the order of KINDS in trials.py. */
enum kind {
    MEMORY,
    OPEN,
    READ,
    WRITE,
    CLOSE,
    PIPE,
    POLL,
    START,
    WAIT,
    KILL,
    NUMBERED, /* system calls that are made through syscall() */
    FCNTL,
    STAT,
    LINK,
    FOLDER,
    MAKE,
    RENAME,
    REMOVE,
    MODE,
    THREAD,
    SIGNALS,
    GROUP,
    PRCTL,
    ACCESS,
    N_KINDS
};

struct state {
    _Atomic uint32_t calls[N_KINDS];
    uint32_t kind;
    uint32_t nth; /* counted from 1; 0 means that no call fails */
    int32_t error;
    _Atomic uint32_t struck;
    uint32_t ended; /* 1 if the program exited normally; only then the rest is valid */
    int32_t unfreed;
    /* one bit for each of the first 256 descriptors; set if the descriptor is open */
    uint32_t open;
};

static struct state *state;
static pid_t owner;
static _Atomic int32_t unfreed;

static bool strike(enum kind kind) {
    if (state == NULL)
        return false;
    uint32_t nth = atomic_fetch_add(&state->calls[kind], 1) + 1;
    if (state->kind != kind || nth != state->nth)
        return false;
    atomic_store(&state->struck, 1);
    errno = state->error;
    return true;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("BOXSPEC_FAULT_FILE");
    if (path == NULL)
        return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    (void)unsetenv("BOXSPEC_FAULT_FILE");
    (void)unsetenv("LD_PRELOAD");
    if (at == MAP_FAILED)
        abort();
    owner = getpid();
    state = at;
}

__attribute__((destructor)) static void end(void) {
    struct state *last = state;
    state = NULL;
    if (last == NULL || getpid() != owner)
        return;
    for (int fd = 0; fd < 256; fd++)
        last->open += fcntl(fd, F_GETFD) >= 0;
    last->unfreed = atomic_load(&unfreed);
    last->ended = 1;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

/* True while libc may allocate memory for the next thread. This is not a leak, because libc keeps
 * this memory. */
static _Thread_local bool in_libc;

static void *counted(void *made) {
    if (made != NULL && state != NULL && !in_libc)
        atomic_fetch_add(&unfreed, 1);
    return made;
}

void *malloc(size_t n) { return strike(MEMORY) ? NULL : counted(__libc_malloc(n)); }

void *calloc(size_t n, size_t each) {
    return strike(MEMORY) ? NULL : counted(__libc_calloc(n, each));
}

void *realloc(void *old, size_t n) {
    if (strike(MEMORY))
        return NULL;
    return old == NULL ? counted(__libc_realloc(NULL, n)) : __libc_realloc(old, n);
}

void free(void *old) {
    if (old != NULL && state != NULL)
        atomic_fetch_sub(&unfreed, 1);
    __libc_free(old);
}

/* Look up the function of this name in the libraries that are loaded after this one. */
#define REAL(name)                                                                                 \
    static __typeof__(&(name)) real;                                                               \
    if (real == NULL)                                                                              \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

#define FAILING(kind, type, name, parameters, arguments, failure)                                  \
    type name parameters {                                                                         \
        REAL(name);                                                                                \
        return strike(kind) ? (failure) : real arguments;                                          \
    }

#define MODE_OF(flags)                                                                             \
    va_list more;                                                                                  \
    va_start(more, flags);                                                                         \
    mode_t mode = (flags) & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                      \
    va_end(more)

int open(const char *path, int flags, ...) {
    MODE_OF(flags);
    REAL(open);
    return strike(OPEN) ? -1 : real(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...) {
    MODE_OF(flags);
    REAL(openat);
    return strike(OPEN) ? -1 : real(dir, path, flags, mode);
}

/* Linux closes the descriptor even if close reports an error, so this function does the same. */
int close(int fd) {
    REAL(close);
    bool struck = strike(CLOSE);
    int error = errno;
    int code = real(fd);
    if (!struck)
        return code;
    errno = error;
    return -1;
}

int fcntl(int fd, int what, ...) {
    REAL(fcntl);
    va_list more;
    va_start(more, what);
    long value = va_arg(more, long);
    va_end(more);
    return strike(FCNTL) ? -1 : real(fd, what, value);
}

long syscall(long number, ...) {
    REAL(syscall);
    va_list more;
    va_start(more, number);
    long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    return strike(NUMBERED) ? -1 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *with) {
    REAL(pthread_create);
    if (strike(THREAD))
        return errno;
    in_libc = true;
    int code = real(thread, attributes, run, with);
    in_libc = false;
    return code;
}

int prctl(int option, ...) {
    REAL(prctl);
    va_list more;
    va_start(more, option);
    unsigned long a[4];
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(more, unsigned long);
    va_end(more);
    return strike(PRCTL) ? -1 : real(option, a[0], a[1], a[2], a[3]);
}

FAILING(OPEN, FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
FAILING(READ, ssize_t, read, (int fd, void *data, size_t n), (fd, data, n), -1)
FAILING(WRITE, ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n), -1)
FAILING(WRITE, ssize_t, send, (int fd, const void *data, size_t n, int flags), (fd, data, n, flags),
        -1)
FAILING(PIPE, int, pipe2, (int fds[2], int flags), (fds, flags), -1)
FAILING(PIPE, int, eventfd, (unsigned int count, int flags), (count, flags), -1)
FAILING(PIPE, int, memfd_create, (const char *name, unsigned int flags), (name, flags), -1)
FAILING(PIPE, int, dup2, (int from, int to), (from, to), -1)
FAILING(POLL, int, poll, (struct pollfd * set, nfds_t n, int ms), (set, n, ms), -1)
FAILING(START, pid_t, fork, (void), (), -1)
FAILING(START, int, posix_spawn,
        (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const argv[], char *const environment[]),
        (pid, path, actions, attributes, argv, environment), errno)
FAILING(START, int, posix_spawn_file_actions_init, (posix_spawn_file_actions_t * actions),
        (actions), errno)
FAILING(START, int, posix_spawn_file_actions_adddup2,
        (posix_spawn_file_actions_t * actions, int from, int to), (actions, from, to), errno)
FAILING(START, int, posix_spawn_file_actions_addfchdir_np,
        (posix_spawn_file_actions_t * actions, int fd), (actions, fd), errno)
FAILING(START, int, posix_spawnattr_init, (posix_spawnattr_t * attributes), (attributes), errno)
FAILING(WAIT, int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options),
        (type, id, info, options), -1)
FAILING(KILL, int, kill, (pid_t pid, int signo), (pid, signo), -1)
FAILING(STAT, int, stat, (const char *path, struct stat *st), (path, st), -1)
FAILING(STAT, int, lstat, (const char *path, struct stat *st), (path, st), -1)
FAILING(STAT, int, fstat, (int fd, struct stat *st), (fd, st), -1)
FAILING(STAT, int, fstatat, (int dir, const char *path, struct stat *st, int flags),
        (dir, path, st, flags), -1)
FAILING(LINK, ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), -1)
FAILING(LINK, ssize_t, readlinkat, (int dir, const char *path, char *to, size_t n),
        (dir, path, to, n), -1)
FAILING(LINK, char *, realpath, (const char *path, char *to), (path, to), NULL)
FAILING(LINK, char *, getcwd, (char *to, size_t n), (to, n), NULL)
FAILING(FOLDER, DIR *, opendir, (const char *path), (path), NULL)
FAILING(FOLDER, DIR *, fdopendir, (int fd), (fd), NULL)
FAILING(FOLDER, struct dirent *, readdir, (DIR * dir), (dir), NULL)
FAILING(FOLDER, int, fchdir, (int fd), (fd), -1)
FAILING(MAKE, int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
FAILING(MAKE, char *, mkdtemp, (char *path), (path), NULL)
FAILING(MAKE, int, mkostemps, (char *path, int suffix, int flags), (path, suffix, flags), -1)
FAILING(RENAME, int, rename, (const char *from, const char *to), (from, to), -1)
FAILING(RENAME, int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to),
        -1)
FAILING(REMOVE, int, unlink, (const char *path), (path), -1)
FAILING(REMOVE, int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags), -1)
FAILING(REMOVE, int, rmdir, (const char *path), (path), -1)
FAILING(MODE, int, chmod, (const char *path, mode_t mode), (path, mode), -1)
FAILING(MODE, int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
FAILING(MODE, int, fchmodat, (int dir, const char *path, mode_t mode, int flags),
        (dir, path, mode, flags), -1)
FAILING(THREAD, int, pthread_attr_init, (pthread_attr_t * attributes), (attributes), errno)
FAILING(THREAD, int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t n),
        (attributes, n), errno)
FAILING(SIGNALS, int, sigaction,
        (int signo, const struct sigaction *next, struct sigaction *before), (signo, next, before),
        -1)
FAILING(GROUP, int, setpgid, (pid_t pid, pid_t group), (pid, group), -1)
FAILING(GROUP, pid_t, setsid, (void), (), -1)
FAILING(ACCESS, int, access, (const char *path, int mode), (path, mode), -1)
FAILING(ACCESS, int, faccessat, (int dir, const char *path, int mode, int flags),
        (dir, path, mode, flags), -1)
