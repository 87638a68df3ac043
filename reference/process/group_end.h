/* The members of a group whose leader has ended. */
#ifndef BS_PROCESS_GROUP_END_H
#define BS_PROCESS_GROUP_END_H

#include <stdbool.h>
#include <sys/types.h>

/* Kills them, and waits until they are gone and collected, by whomever: BS_EXEC_KILL_MS at most.
 * The leader is a zombie that nobody collects meanwhile. False where nobody can be looked for:
 * there is no /proc, or no descriptor for it. */
bool bs_process_end_group(pid_t pgid);

/* The same behind the reap, when the leader's zombie no longer stands for a member. Nothing is sent
 * any more. */
void bs_process_await_empty_group(pid_t pgid);

#endif
