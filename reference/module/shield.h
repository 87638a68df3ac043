/* Hide the caller's environment and memory from its module, which could read them in /proc. */
#ifndef BS_MODULE_SHIELD_H
#define BS_MODULE_SHIELD_H

#include <stdbool.h>

/* Make this process not dumpable until the matching call of bs_shield_lower, so that a process of
 * the same user cannot open its /proc/PID/environ and /proc/PID/mem. Any number of threads may
 * raise the shield; the last one to lower it restores the earlier setting. Return false if the
 * kernel refused. */
bool bs_shield_raise(void);
void bs_shield_lower(void);

/* Called by the runner immediately before execv: the module and all that it starts never have the
 * capabilities that open /proc/PID/environ in spite of the shield. A module of root therefore
 * cannot use CAP_SYS_ADMIN either. Does nothing for a process without capabilities. */
void bs_shield_drop_capabilities(void);

/* Return true if a module of this caller would keep one of these capabilities: the caller has one
 * and lacks CAP_SETPCAP, which is needed to drop it. */
bool bs_shield_is_leaky(void);

#endif
