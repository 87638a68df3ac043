/* Counts the marks of a planted fault. The counts are in a file that outlives the process, because
 * a target with a finding aborts, and AFL++ has many processes. BOXSPEC_PLANTED names the file,
 * which has two 64-bit numbers: reached and triggered. Without the variable the counts are
 * discarded. */
#define _GNU_SOURCE
#include "planted.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct counts {
    uint64_t reached;
    uint64_t triggered;
};

static struct counts *map_counts(void) {
    static struct counts nobody;
    const char *path = getenv("BOXSPEC_PLANTED");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return &nobody;
    void *mapped = mmap(NULL, sizeof nobody, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    return mapped != MAP_FAILED ? mapped : &nobody;
}

static struct counts *counts(void) {
    static struct counts *found;
    if (found == NULL)
        found = map_counts();
    return found;
}

/* Count that the faulty code ran. Several workers may count at once; a lost count would be
 * harmless. */
void bs_planted_reached(void) { __atomic_add_fetch(&counts()->reached, 1, __ATOMIC_RELAXED); }

bool bs_planted_triggered(bool holds) {
    if (holds)
        __atomic_add_fetch(&counts()->triggered, 1, __ATOMIC_RELAXED);
    return holds;
}
