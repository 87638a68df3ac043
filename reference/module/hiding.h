/* Hides environment and memory of the caller from its modules, which could read both in /proc. */
#ifndef BS_MODULE_HIDING_H
#define BS_MODULE_HIDING_H

#include <stdbool.h>

/* Make this process not dumpable until the matching call of bs_hiding_end. Processes of the same
 * user then cannot open its /proc/PID/environ and /proc/PID/mem. Any number of threads may hide the
 * caller; the last bs_hiding_end restores the earlier value. Returns false if the kernel
 * refused. */
bool bs_hiding_begin(void);
void bs_hiding_end(void);

/* Drop the capabilities that open /proc/PID/environ although it is hidden. The runner calls this
 * immediately before execv, so the module and its children never have them. As a consequence a
 * module of root cannot use CAP_SYS_ADMIN either. Does nothing for a process without
 * capabilities. */
void bs_hiding_drop_capabilities(void);

/* True if a module of this caller would keep one of these capabilities: the caller has one but
 * lacks CAP_SETPCAP, which is needed to drop it. */
bool bs_hiding_is_incomplete(void);

#endif
