/* Measures the processor time of this thread, so that a busy machine does not make a test fail. */
#ifndef BS_TESTS_SPENT_H
#define BS_TESTS_SPENT_H

double spent_ms(void);

#endif
