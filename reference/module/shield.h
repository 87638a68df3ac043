/* Hides environment and memory of the caller from its modules, which could read both in /proc. */
#ifndef BS_MODULE_SHIELD_H
#define BS_MODULE_SHIELD_H

#include <stdbool.h>

/* Make this process not dumpable until the matching call of bs_shield_lower. Processes of the same
 * user then cannot open its /proc/PID/environ and /proc/PID/mem. Any number of threads may raise
 * the shield; the last one to lower it restores the earlier value. Returns false if the kernel
 * refused. */
bool bs_shield_raise(void);
void bs_shield_lower(void);

/* Drop the capabilities that open /proc/PID/environ in spite of the shield. The runner calls this
 * immediately before execv, so the module and its children never have them. As a consequence a
 * module of root cannot use CAP_SYS_ADMIN either. Does nothing for a process without
 * capabilities. */
void bs_shield_drop_capabilities(void);

/* True if a module of this caller would keep one of these capabilities: the caller has one but
 * lacks CAP_SETPCAP, which is needed to drop it. */
bool bs_shield_is_leaky(void);

#endif
