/* Mutations of inputs that are globs and paths in the alphabet of support/glob_gen.h.
 *
 * The engines change bytes and runs of bytes. These change what a glob is made of: a whole segment
 * is dropped, doubled, exchanged or taken from another input, a wildcard becomes another one, the
 * glob is copied to where the path is. One source for both engines: libFuzzer finds
 * LLVMFuzzerCustomMutator in the target, AFL++ loads a library with afl_custom_fuzz by
 * AFL_CUSTOM_MUTATOR_LIBRARY; that makes nothing longer than BOXSPEC_FUZZ_MOST_BYTES says. */
#ifndef BS_FUZZ_MUTATOR_H
#define BS_FUZZ_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* Changes `data` in place, which has `size` bytes and room for `room`; `other` may be NULL. The new
 * size, at least 1. The same seed does the same. */
size_t bs_fuzz_mutate(uint8_t *data, size_t size, size_t room, const uint8_t *other,
                      size_t other_size, uint32_t seed);

#endif
