#define _GNU_SOURCE
#include "module/hiding.h"

#include <linux/capability.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each of these capabilities opens /proc/PID/environ of a process that is not dumpable. The
 * kernel's mm_access() asks for CAP_SYS_PTRACE, and since Linux 6.13 also accepts
 * perfmon_capable(), which means CAP_PERFMON or CAP_SYS_ADMIN. */
static const unsigned READS_ANY_PROCESS[] = {CAP_SYS_PTRACE, CAP_PERFMON, CAP_SYS_ADMIN};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned hiders;
static int before; /* the value of PR_GET_DUMPABLE before the first bs_hiding_begin */

bool bs_hiding_begin(void) {
    (void)pthread_mutex_lock(&lock);
    if (hiders == 0)
        before = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    bool good = hiders > 0 || before == 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
    hiders += good;
    (void)pthread_mutex_unlock(&lock);
    return good;
}

void bs_hiding_end(void) {
    (void)pthread_mutex_lock(&lock);
    /* Only 0 and 1 can be restored: the value 2 is for set-user-id programs, and only the kernel
     * can set it. */
    if (--hiders == 0 && before == 1)
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    (void)pthread_mutex_unlock(&lock);
}

static bool has_capability(unsigned capability) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    /* glibc has no wrapper for this system call. */
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    return (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

void bs_hiding_drop_capabilities(void) {
    for (size_t i = 0; i < sizeof READS_ANY_PROCESS / sizeof *READS_ANY_PROCESS; i++) {
        (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, READS_ANY_PROCESS[i], 0, 0);
        (void)prctl(PR_CAPBSET_DROP, READS_ANY_PROCESS[i], 0, 0, 0);
    }
}

bool bs_hiding_is_incomplete(void) {
    bool reads = false;
    for (size_t i = 0; i < sizeof READS_ANY_PROCESS / sizeof *READS_ANY_PROCESS; i++)
        reads = reads || has_capability(READS_ANY_PROCESS[i]);
    return reads && !has_capability(CAP_SETPCAP);
}
