/* Read /proc/PID/stat. */
#ifndef BS_BASE_PROC_STAT_H
#define BS_BASE_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bs_proc_stat {
    char state;
    pid_t parent;
    pid_t group;
    unsigned long threads;
    uint64_t started; /* clock ticks since boot */
};

enum bs_proc_stat_outcome { BS_PROC_STAT_READ, BS_PROC_STAT_GONE, BS_PROC_STAT_UNREADABLE };

/* Read the stat file of a process. `proc` is a descriptor of /proc and `pid` a name in it. The
 * result BS_PROC_STAT_GONE means that the process has ended and is reaped, BS_PROC_STAT_UNREADABLE
 * that it may still run. */
enum bs_proc_stat_outcome bs_proc_stat_read(int proc, const char *pid, struct bs_proc_stat *stat);

/* True if the process has ended: it is a zombie, or the kernel is removing it. */
bool bs_proc_stat_is_dead(const struct bs_proc_stat *stat);

#endif
