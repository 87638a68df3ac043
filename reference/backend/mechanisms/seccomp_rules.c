/* Decides which system calls the filter allows. System calls are given as numbers, because
 * libseccomp does not know the names of the newest ones. */
#define _GNU_SOURCE
#include "backend/mechanisms/seccomp_rules.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "backend/mechanisms/seccomp.h"

/* This number is not in the headers of every distribution. */
enum { NR_FCHMODAT2 = 452 };

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

/* System calls that affect objects and processes of the host if there are no namespaces. */
static const int shared[] = {
    SCMP_SYS(mq_open),         SCMP_SYS(mq_unlink),  SCMP_SYS(kcmp),
    SCMP_SYS(migrate_pages),   SCMP_SYS(move_pages), SCMP_SYS(process_madvise),
    SCMP_SYS(process_mrelease)};

/* System calls whose first argument is a process; 0 means the caller itself. */
static const int on_process[] = {SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity),
                                 SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
                                 SCMP_SYS(sched_setattr)};

static const int metadata[] = {
    SCMP_SYS(chmod),        SCMP_SYS(fchmod),      SCMP_SYS(fchmodat),  NR_FCHMODAT2,
    SCMP_SYS(chown),        SCMP_SYS(fchown),      SCMP_SYS(lchown),    SCMP_SYS(fchownat),
    SCMP_SYS(utime),        SCMP_SYS(utimes),      SCMP_SYS(futimesat), SCMP_SYS(utimensat),
    SCMP_SYS(setxattr),     SCMP_SYS(lsetxattr),   SCMP_SYS(fsetxattr), SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr)};

struct lists {
    struct bs_seccomp_rules *rules;
    bool twice; /* two rules exist for the same call */
};

/* Return the rule of a call, which the caller must fill in. NULL if this architecture does not have
 * the call. */
static struct bs_seccomp_rule *decide(struct lists *lists, int number) {
    if (number < 0)
        return NULL;
    if (number > BS_SECCOMP_NEWEST || lists->rules->of[number].decided) {
        lists->twice = true;
        return NULL;
    }
    struct bs_seccomp_rule *rule = &lists->rules->of[number];
    rule->decided = true;
    return rule;
}

static void deny_all(struct lists *lists, const int *numbers, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bs_seccomp_rule *rule = decide(lists, numbers[i]);
        if (rule != NULL)
            rule->answer = SECCOMP_RET_ERRNO | EPERM;
    }
}

/* Allow the call if one of the cases is true. Otherwise the call fails as on a kernel that does not
 * have it. */
static void allow_if(struct lists *lists, int number, const struct bs_seccomp_case *cases,
                     unsigned n) {
    struct bs_seccomp_rule *rule = decide(lists, number);
    if (rule == NULL)
        return;
    rule->answer = SECCOMP_RET_ERRNO | ENOSYS;
    rule->matching = SECCOMP_RET_ALLOW;
    rule->n_cases = n;
    memcpy(rule->cases, cases, n * sizeof *cases);
}

static void allow_if_one(struct lists *lists, int number, struct bs_seccomp_case only) {
    allow_if(lists, number, &only, 1);
}

#define WHOLE UINT32_C(0xFFFFFFFF)

#define MASKED(arg, mask, value)                                                                   \
    {                                                                                              \
        arg, mask, 1, { value }                                                                    \
    }
#define IS(arg, value) MASKED(arg, WHOLE, value)
#define IS_EITHER(arg, value, other)                                                               \
    {                                                                                              \
        arg, WHOLE, 2, { value, other }                                                            \
    }
#define ALL_OF(...)                                                                                \
    ((struct bs_seccomp_case){sizeof((struct bs_seccomp_test[]){__VA_ARGS__}) /                    \
                                  sizeof(struct bs_seccomp_test),                                  \
                              {__VA_ARGS__}})

static void add_sockets(struct lists *lists, const struct bs_seccomp_variant *variant) {
    /* mask for the kind of a socket; the other bits of the type argument are flags */
    enum { KIND = 0xF };
    const struct bs_seccomp_case kinds[] = {
        ALL_OF(IS(0, AF_NETLINK), IS(2, NETLINK_ROUTE)),
        ALL_OF(IS_EITHER(0, AF_INET, AF_INET6), MASKED(1, KIND, SOCK_STREAM),
               IS_EITHER(2, 0, IPPROTO_TCP)),
        ALL_OF(IS_EITHER(0, AF_INET, AF_INET6), MASKED(1, KIND, SOCK_DGRAM),
               IS_EITHER(2, 0, IPPROTO_UDP))};
    bool inet = variant->namespaces || !variant->no_network;
    allow_if(lists, SCMP_SYS(socket), kinds, inet ? 3 : 1);
    /* Allow only stream and seqpacket pairs. A datagram pair (SOCK_RAW counts as one) could send to
     * any name and receive from any process. */
    const struct bs_seccomp_test connected = {1, KIND, 2, {SOCK_STREAM, SOCK_SEQPACKET}};
    allow_if_one(lists, SCMP_SYS(socketpair), ALL_OF(IS(0, AF_UNIX), connected));
    if (variant->namespaces)
        return;
    /* Refuse TCP Fast Open. It connects with the first packet, and Landlock does not check that. */
    allow_if_one(lists, SCMP_SYS(sendto), ALL_OF(MASKED(3, MSG_FASTOPEN, 0)));
    allow_if_one(lists, SCMP_SYS(sendmsg), ALL_OF(MASKED(2, MSG_FASTOPEN, 0)));
    allow_if_one(lists, SCMP_SYS(sendmmsg), ALL_OF(MASKED(3, MSG_FASTOPEN, 0)));
}

static void add_namespaces(struct lists *lists) {
    /* CLONE_NEWTIME cannot be in `all`, because in the flags of clone its bit (0x80) belongs to the
     * signal number. unshare does have this flag. */
    const uint32_t all = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                         CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    allow_if_one(lists, SCMP_SYS(clone), ALL_OF(MASKED(0, all, 0)));
    allow_if_one(lists, SCMP_SYS(unshare), ALL_OF(MASKED(0, all | 0x80, 0)));
    /* A filter cannot read the flags of clone3, which are in memory. So the call fails with ENOSYS,
     * and the C library uses clone instead. */
    struct bs_seccomp_rule *clone3 = decide(lists, SCMP_SYS(clone3));
    if (clone3 != NULL)
        clone3->answer = SECCOMP_RET_ERRNO | ENOSYS;
}

static void add_processes(struct lists *lists) {
    for (size_t i = 0; i < sizeof on_process / sizeof *on_process; i++)
        allow_if_one(lists, on_process[i], ALL_OF(IS(0, 0)));
    enum { IOPRIO_WHO_PROCESS = 1 };
    allow_if_one(lists, SCMP_SYS(setpriority), ALL_OF(IS(0, PRIO_PROCESS), IS(1, 0)));
    allow_if_one(lists, SCMP_SYS(ioprio_set), ALL_OF(IS(0, IOPRIO_WHO_PROCESS), IS(1, 0)));
}

static void refuse_request(struct bs_seccomp_rule *rule, uint32_t request) {
    enum {
        MANY = sizeof rule->cases[0].tests[0].values / sizeof rule->cases[0].tests[0].values[0]
    };
    struct bs_seccomp_case *last = &rule->cases[rule->n_cases - (rule->n_cases > 0)];
    if (rule->n_cases == 0 || last->tests[0].n_values == MANY) {
        last = &rule->cases[rule->n_cases++];
        *last = (struct bs_seccomp_case){1, {{1, WHOLE, 0, {0}}}};
    }
    last->tests[0].values[last->tests[0].n_values++] = request;
}

#define REFUSE_REQUESTS(rule, list)                                                                \
    for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++)                                     \
    refuse_request(rule, (list)[i])

/* Filter ioctl by its request number, which the kernel treats as an int. */
static void add_ioctl(struct lists *lists, const struct bs_seccomp_variant *variant) {
    static const uint32_t terminal_requests[] = {TIOCSTI, 0x541C /* TIOCLINUX */};
    /* btrfs makes and removes directories through a descriptor that was opened for reading, and
     * checks only the mode of the file. A read-only mount refuses these requests, but Landlock does
     * not. */
    static const uint32_t btrfs_requests[] = {
        0x5000940E /* SUBVOL_CREATE */, 0x50009418 /* SUBVOL_CREATE_V2 */,
        0x50009401 /* SNAP_CREATE */,   0x50009417 /* SNAP_CREATE_V2 */,
        0x5000940F /* SNAP_DESTROY */,  0x5000943F /* SNAP_DESTROY_V2 */};
    static const uint32_t file_requests[] = {
        0x40086602 /* FS_IOC_SETFLAGS */,           0x401C5820 /* FS_IOC_FSSETXATTR */,
        0x40806685 /* FS_IOC_ENABLE_VERITY */,      0x800C6613 /* FS_IOC_SET_ENCRYPTION_POLICY */,
        0x4008941A /* BTRFS_IOC_SUBVOL_SETFLAGS */, 0xC0C89425 /* ..._SET_RECEIVED_SUBVOL */};
    struct bs_seccomp_rule *rule = decide(lists, SCMP_SYS(ioctl));
    if (rule == NULL)
        return;
    rule->answer = SECCOMP_RET_ALLOW;
    rule->matching = SECCOMP_RET_ERRNO | EPERM;
    REFUSE_REQUESTS(rule, terminal_requests);
    if (!variant->namespaces)
        REFUSE_REQUESTS(rule, btrfs_requests);
    if (variant->strict_metadata)
        REFUSE_REQUESTS(rule, file_requests);
}

#define DENY_ALL(lists, list) deny_all(lists, list, sizeof(list) / sizeof *(list))

bool bs_seccomp_rules_for(const struct bs_seccomp_variant *variant,
                          struct bs_seccomp_rules *rules) {
    struct lists lists = {.rules = rules};
    memset(rules, 0, sizeof *rules);
    for (int number = 0; number <= BS_SECCOMP_NEWEST; number++)
        rules->of[number].answer = SECCOMP_RET_ALLOW;
    DENY_ALL(&lists, surface);
    if (!variant->namespaces) {
        DENY_ALL(&lists, shared);
        add_processes(&lists);
    }
    if (variant->strict_metadata)
        DENY_ALL(&lists, metadata);
    add_sockets(&lists, variant);
    add_namespaces(&lists);
    add_ioctl(&lists, variant);
    /* Allow to query the personality and to set PER_LINUX. */
    allow_if_one(&lists, SCMP_SYS(personality), ALL_OF(IS_EITHER(0, WHOLE, 0)));
    return !lists.twice;
}
