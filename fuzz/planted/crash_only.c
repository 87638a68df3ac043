/* The comparison for the planted faults: the same target without its oracles. It is linked with
 * --wrap for both functions below, so it has the inputs, the reference and the cost of the real
 * target, but can find only crashes, hangs and leaks. */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
_Noreturn void __wrap_bs_fuzz_fail(const char *oracle, const char *format, ...);

static jmp_buf before_the_input;

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return setjmp(before_the_input) == 0 ? __real_LLVMFuzzerTestOneInput(data, size) : 0;
}

/* Leave the target without freeing its memory. Print once that a reported leak may come from
 * this. */
_Noreturn void __wrap_bs_fuzz_fail(const char *oracle, const char *format, ...) {
    static int printed;
    (void)format;
    if (printed++ == 0)
        (void)fprintf(stderr, "silenced: %s\n", oracle);
    longjmp(before_the_input, 1);
}
