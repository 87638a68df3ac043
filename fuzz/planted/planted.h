/* The marks of a planted fault. Only faulty copies of a file use this header. Their build includes
 * it before the file, so the patches stay small and the reference needs no change.
 *
 *     BS_PLANTED_REACHED()      the faulty code ran
 *     BS_PLANTED_TRIGGERED(c)   returns c, and counts if c is true: the wrong condition of the
 *                               fault held. If this was counted and no oracle fired, an oracle has
 *                               a gap. If it was never counted, the inputs have a gap.
 *
 * This header includes no system header except stdbool.h, because the file may need to set feature
 * macros first. */
#ifndef BS_PLANTED_H
#define BS_PLANTED_H

#include <stdbool.h>

void bs_planted_reached(void);
bool bs_planted_triggered(bool holds);

#define BS_PLANTED_REACHED() bs_planted_reached()
#define BS_PLANTED_TRIGGERED(holds) bs_planted_triggered(holds)

#endif
