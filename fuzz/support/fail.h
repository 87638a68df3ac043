/* How an oracle says that something is wrong.
 *
 * Not assert(): NDEBUG must not silence it, and who sorts findings needs the oracle's name. One
 * line goes to stderr, `boxspec-fuzz: TARGET: ORACLE: message`, behind it the case in readable form
 * (support/case.h), and the process ends by SIGABRT, which every engine takes for a finding.
 */
#ifndef BS_FUZZ_FAIL_H
#define BS_FUZZ_FAIL_H

/* `oracle` is one of those that fuzz/targets.json names for the target: with the target it is what
 * findings are told apart by. The message needs no newline. */
_Noreturn void bs_fuzz_fail(const char *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Called instead, and leaves by a jump: for who runs a target and does not want its judgement. */
extern void (*bs_fuzz_escape)(void);

#endif
