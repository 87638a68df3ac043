/* The marks of a planted fault. Only faulted copies of a file see this header: whoever builds one
 * includes it in front of the file, so the patches stay small and the reference knows nothing of
 * it.
 *
 * BS_PLANTED_REACHED()      the code with the mistake ran.
 * BS_PLANTED_TRIGGERED(c)   its wrong condition held if c is true; the value is c. What an oracle
 *                           does not see although this was counted is a gap of the oracle; what was
 *                           never counted is a gap of the inputs.
 *
 * No system header but these: the file may want to choose its own features first.
 */
#ifndef BS_PLANTED_H
#define BS_PLANTED_H

#include <stdbool.h>

void bs_planted_reached(void);
bool bs_planted_triggered(bool holds);

#define BS_PLANTED_REACHED() bs_planted_reached()
#define BS_PLANTED_TRIGGERED(holds) bs_planted_triggered(holds)

#endif
