/* Writes the seccomp programs as C, one for each wish, when the project is built: libseccomp 2.5
 * crashes, or does not return, when it runs out of memory while it writes a program, and a library
 * must not take its caller along. filter.c has them.
 *
 * System calls are named by number: libseccomp does not know the newest by name. Whatever is above
 * the newest that was looked at when this was written answers ENOSYS, as on an older kernel. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/filter.h"

enum { NEWEST_KNOWN = 462 }; /* mseal */

/* Not in the headers of every distribution. */
enum { NR_FCHMODAT2 = 452 };

#define DENY SCMP_ACT_ERRNO(EPERM)

static const int surface[] = {SCMP_SYS(io_uring_setup),
                              SCMP_SYS(io_uring_enter),
                              SCMP_SYS(io_uring_register),
                              SCMP_SYS(add_key),
                              SCMP_SYS(request_key),
                              SCMP_SYS(keyctl),
                              SCMP_SYS(shmget),
                              SCMP_SYS(shmat),
                              SCMP_SYS(shmctl),
                              SCMP_SYS(shmdt),
                              SCMP_SYS(msgget),
                              SCMP_SYS(msgsnd),
                              SCMP_SYS(msgrcv),
                              SCMP_SYS(msgctl),
                              SCMP_SYS(semget),
                              SCMP_SYS(semop),
                              SCMP_SYS(semctl),
                              SCMP_SYS(semtimedop),
                              SCMP_SYS(bpf),
                              SCMP_SYS(perf_event_open),
                              SCMP_SYS(userfaultfd),
                              SCMP_SYS(fanotify_init),
                              SCMP_SYS(fanotify_mark),
                              SCMP_SYS(open_by_handle_at),
                              SCMP_SYS(mount),
                              SCMP_SYS(umount2),
                              SCMP_SYS(pivot_root),
                              SCMP_SYS(chroot),
                              SCMP_SYS(move_mount),
                              SCMP_SYS(open_tree),
                              SCMP_SYS(fsopen),
                              SCMP_SYS(fsconfig),
                              SCMP_SYS(fsmount),
                              SCMP_SYS(fspick),
                              SCMP_SYS(mount_setattr),
                              SCMP_SYS(swapon),
                              SCMP_SYS(swapoff),
                              SCMP_SYS(init_module),
                              SCMP_SYS(finit_module),
                              SCMP_SYS(delete_module),
                              SCMP_SYS(kexec_load),
                              SCMP_SYS(kexec_file_load),
                              SCMP_SYS(reboot),
                              SCMP_SYS(setns),
                              SCMP_SYS(sethostname),
                              SCMP_SYS(setdomainname),
                              SCMP_SYS(syslog),
                              SCMP_SYS(acct),
                              SCMP_SYS(quotactl),
                              SCMP_SYS(quotactl_fd),
                              SCMP_SYS(iopl),
                              SCMP_SYS(ioperm),
                              SCMP_SYS(lookup_dcookie),
                              SCMP_SYS(nfsservctl),
                              SCMP_SYS(vhangup),
                              SCMP_SYS(memfd_secret)};

/* Without a namespace of their own these reach what the host has. */
static const int shared[] = {
    SCMP_SYS(mq_open),         SCMP_SYS(mq_unlink),  SCMP_SYS(kcmp),
    SCMP_SYS(migrate_pages),   SCMP_SYS(move_pages), SCMP_SYS(process_madvise),
    SCMP_SYS(process_mrelease)};

/* The first argument is a process, 0 the caller itself. */
static const int of_process[] = {SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity),
                                 SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
                                 SCMP_SYS(sched_setattr)};

/* The second one is. */
static const int of_process_second[] = {SCMP_SYS(setpriority), SCMP_SYS(ioprio_set)};

static const int metadata[] = {
    SCMP_SYS(chmod),        SCMP_SYS(fchmod),      SCMP_SYS(fchmodat),  NR_FCHMODAT2,
    SCMP_SYS(chown),        SCMP_SYS(fchown),      SCMP_SYS(lchown),    SCMP_SYS(fchownat),
    SCMP_SYS(utime),        SCMP_SYS(utimes),      SCMP_SYS(futimesat), SCMP_SYS(utimensat),
    SCMP_SYS(setxattr),     SCMP_SYS(lsetxattr),   SCMP_SYS(fsetxattr), SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr)};

struct builder {
    scmp_filter_ctx filter;
    bool decided[NEWEST_KNOWN + 1]; /* has rules of its own */
    int rc;                         /* of libseccomp: 0 or a negative errno */
};

static void rule(struct builder *builder, uint32_t action, int number, unsigned n,
                 const struct scmp_arg_cmp *args) {
    if (number >= 0 && number <= NEWEST_KNOWN)
        builder->decided[number] = true;
    if (builder->rc == 0 && number >= 0) /* negative: this architecture has no such call */
        builder->rc = seccomp_rule_add_array(builder->filter, action, number, n, args);
}

static void deny_all(struct builder *builder, const int *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        rule(builder, DENY, numbers[i], 0, NULL);
}

static void allow_if(struct builder *builder, int number, unsigned n,
                     const struct scmp_arg_cmp *args) {
    rule(builder, SCMP_ACT_ALLOW, number, n, args);
}

/* Only the low half of an argument that the kernel takes for an int. */
#define LOW UINT64_C(0xFFFFFFFF)
#define IS(arg, value) SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, LOW, (uint64_t)(value))

static void add_sockets(struct builder *builder, const struct bs_filter_wish *wish) {
    static const int families[] = {AF_INET, AF_INET6};
    static const int kinds[][2] = {
        {SOCK_STREAM, 0}, {SOCK_STREAM, IPPROTO_TCP}, {SOCK_DGRAM, 0}, {SOCK_DGRAM, IPPROTO_UDP}};
    enum { KIND = 0xF }; /* the rest of a type are flags */
    bool inet = wish->namespaces || !wish->no_network;
    for (size_t i = 0; inet && i < 2; i++) {
        for (size_t j = 0; j < 4; j++) {
            const struct scmp_arg_cmp args[] = {
                IS(0, families[i]), SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, KIND, (uint64_t)kinds[j][0]),
                IS(2, kinds[j][1])};
            allow_if(builder, SCMP_SYS(socket), 3, args);
        }
    }
    const struct scmp_arg_cmp route[] = {IS(0, AF_NETLINK), IS(2, NETLINK_ROUTE)};
    allow_if(builder, SCMP_SYS(socket), 2, route);
    const struct scmp_arg_cmp pair[] = {IS(0, AF_UNIX)};
    allow_if(builder, SCMP_SYS(socketpair), 1, pair);
    /* A connection on the way of the first packet does not ask whether it may be made. */
    static const struct {
        int number;
        unsigned arg;
    } senders[] = {{SCMP_SYS(sendto), 3}, {SCMP_SYS(sendmsg), 2}, {SCMP_SYS(sendmmsg), 3}};
    for (size_t i = 0; !wish->namespaces && i < 3; i++) {
        const struct scmp_arg_cmp plain[] = {
            SCMP_CMP64(senders[i].arg, SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0)};
        allow_if(builder, senders[i].number, 1, plain);
    }
}

static void add_namespaces(struct builder *builder) {
    /* CLONE_NEWTIME is one of the bits that clone takes for a signal. */
    const uint64_t all = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                         CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    const struct scmp_arg_cmp none[] = {SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, all, 0)};
    const struct scmp_arg_cmp none_of_unshare[] = {
        SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, all | 0x80, 0)};
    allow_if(builder, SCMP_SYS(clone), 1, none);
    allow_if(builder, SCMP_SYS(unshare), 1, none_of_unshare);
    /* Its flags lie in memory; the C library falls back to clone. */
    builder->decided[SCMP_SYS(clone3)] = true; /* ENOSYS, like all that no rule is about */
}

static void add_processes(struct builder *builder) {
    const struct scmp_arg_cmp first[] = {IS(0, 0)};
    const struct scmp_arg_cmp second[] = {IS(0, PRIO_PROCESS), IS(1, 0)};
    for (size_t i = 0; i < sizeof of_process / sizeof *of_process; i++)
        allow_if(builder, of_process[i], 1, first);
    allow_if(builder, of_process_second[0], 2, second);
    const struct scmp_arg_cmp io[] = {IS(0, 1), IS(1, 0)}; /* IOPRIO_WHO_PROCESS */
    allow_if(builder, of_process_second[1], 2, io);
}

static void add_personality(struct builder *builder) {
    const struct scmp_arg_cmp query[] = {IS(0, LOW)};
    const struct scmp_arg_cmp linux_itself[] = {IS(0, 0)};
    allow_if(builder, SCMP_SYS(personality), 1, query);
    allow_if(builder, SCMP_SYS(personality), 1, linux_itself);
}

#define DENY_ALL(builder, list) deny_all(builder, list, sizeof(list) / sizeof *(list))

static void build(struct builder *builder, const struct bs_filter_wish *wish) {
    DENY_ALL(builder, surface);
    if (!wish->namespaces) {
        DENY_ALL(builder, shared);
        add_processes(builder);
    }
    if (wish->strict_metadata)
        DENY_ALL(builder, metadata);
    add_sockets(builder, wish);
    add_namespaces(builder);
    add_personality(builder);
}

static void allow_rest(struct builder *builder) {
    for (int number = 0; number <= NEWEST_KNOWN; number++) {
        if (!builder->decided[number])
            rule(builder, SCMP_ACT_ALLOW, number, 0, NULL);
    }
}

/* One instruction of the program. */
static void put(FILE *out, const struct sock_filter *one) {
    (void)fprintf(out, "    {0x%04x, %u, %u, 0x%08x},\n", one->code, one->jt, one->jf, one->k);
}

/* In front of what libseccomp made, whose rules cannot refuse a call for an argument and allow all
 * the others: `ioctl` by its request. The request is an int for the kernel, so its low half counts.
 */
static void put_ioctls(const struct bs_filter_wish *wish, FILE *out) {
    enum { IOC_SETFLAGS = 0x40086602, IOC_FSSETXATTR = 0x401C5820, LINUX_CONSOLE = 0x541C };
    const unsigned refused[] = {TIOCSTI, LINUX_CONSOLE, IOC_SETFLAGS, IOC_FSSETXATTR};
    const unsigned char n = wish->strict_metadata ? 4 : 2;
    const unsigned request =
        offsetof(struct seccomp_data, args) + sizeof(uint64_t) + (BYTE_ORDER == BIG_ENDIAN ? 4 : 0);
    const struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, (unsigned char)(n + 3)),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, request)};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        put(out, &head[i]);
    for (unsigned char i = 0; i < n; i++) {
        const struct sock_filter one =
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], (unsigned char)(n - i), 0);
        put(out, &one);
    }
    const struct sock_filter tail[] = {BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++)
        put(out, &tail[i]);
}

/* By way of a file without a name: libseccomp writes to a descriptor. */
static bool put_program(scmp_filter_ctx filter, FILE *out) {
    /* Of no directory: who builds inside a sandbox has no /tmp that it may write to. */
    int fd = memfd_create("filter", MFD_CLOEXEC);
    FILE *made = fd < 0 ? NULL : fdopen(fd, "r");
    bool good =
        made != NULL && seccomp_export_bpf(filter, fd) == 0 && fseek(made, 0, SEEK_SET) == 0;
    struct sock_filter one;
    while (good && fread(&one, sizeof one, 1, made) == 1)
        put(out, &one);
    good = good && !ferror(made);
    if (made != NULL)
        (void)fclose(made);
    else if (fd >= 0)
        (void)close(fd);
    return good;
}

static bool put_filter(const struct bs_filter_wish *wish, FILE *out) {
    struct builder builder = {.filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS))};
    if (builder.filter == NULL)
        return false;
    builder.rc = seccomp_attr_set(builder.filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    if (builder.rc == 0) /* a binary tree: a list would be asked at every call */
        builder.rc = seccomp_attr_set(builder.filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    build(&builder, wish);
    allow_rest(&builder);
    (void)fprintf(out, "static const struct sock_filter filter_%u[] = {\n", bs_filter_number(wish));
    put_ioctls(wish, out);
    bool good = builder.rc == 0 && put_program(builder.filter, out);
    (void)fputs("};\n\n", out);
    seccomp_release(builder.filter);
    return good;
}

int main(int argc, char **argv) {
    FILE *out = argc == 2 ? fopen(argv[1], "we") : NULL;
    if (out == NULL) {
        (void)fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    bool good = true;
    (void)fputs("/* Written by make_filters.c. */\n", out);
    for (unsigned i = 0; good && i < BS_N_FILTERS; i++) {
        const struct bs_filter_wish wish = bs_filter_wish_of(i);
        good = put_filter(&wish, out);
    }
    if (fclose(out) != 0 || !good) {
        (void)fprintf(stderr, "%s: libseccomp cannot write the programs\n", argv[0]);
        (void)remove(argv[1]);
        return 1;
    }
    return 0;
}
