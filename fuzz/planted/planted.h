/* The marks of a planted fault. Only faulty copies of a file use this header: their build includes
 * it before the file, so the patches stay small and the reference needs no change.
 *
 *     BS_PLANTED_REACHED()      the faulty code ran
 *     BS_PLANTED_TRIGGERED(c)   its wrong condition held if c is true; the value is c. If this was
 *                               counted and no oracle fired, an oracle has a gap; if it was never
 *                               counted, the inputs have a gap.
 *
 * This header includes no system header but stdbool.h: the file may need to set feature macros
 * first.
 */
#ifndef BS_PLANTED_H
#define BS_PLANTED_H

#include <stdbool.h>

void bs_planted_reached(void);
bool bs_planted_triggered(bool holds);

#define BS_PLANTED_REACHED() bs_planted_reached()
#define BS_PLANTED_TRIGGERED(holds) bs_planted_triggered(holds)

#endif
