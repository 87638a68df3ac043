/* Mutations of inputs that are globs and paths in the alphabet of support/glob_gen.h.
 *
 * The engines themselves change bytes and runs of bytes. These mutations change parts of a glob: a
 * whole segment is dropped, doubled, exchanged or copied from another input; a wildcard becomes
 * another wildcard; the glob is copied to the path. Both engines use this source. libFuzzer finds
 * LLVMFuzzerCustomMutator in the target. AFL++ loads a library with afl_custom_fuzz, which
 * AFL_CUSTOM_MUTATOR_LIBRARY names. That library makes no input longer than
 * BOXSPEC_FUZZ_MOST_BYTES. */
#ifndef BS_FUZZ_MUTATOR_H
#define BS_FUZZ_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* Change `data` in place. It has `size` bytes and memory for `room` bytes. `other` may be NULL.
 * Return the new size, at least 1. The same seed gives the same result. */
size_t bs_fuzz_mutate(uint8_t *data, size_t size, size_t room, const uint8_t *other,
                      size_t other_size, uint32_t seed);

#endif
