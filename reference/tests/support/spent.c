#define _GNU_SOURCE
#include "support/spent.h"

#include <time.h>

double spent_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
