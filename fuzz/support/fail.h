/* How an oracle reports a failure.
 *
 * This is not assert(), because NDEBUG must not disable it and triage needs the oracle's name.
 * bs_fuzz_fail writes one line to stderr, `boxspec-fuzz: TARGET: ORACLE: message`, then the case in
 * readable form (support/case.h), and ends the process by SIGABRT, which every engine reports as a
 * finding.
 */
#ifndef BS_FUZZ_FAIL_H
#define BS_FUZZ_FAIL_H

/* `oracle` is one of the names that fuzz/targets.json lists for the target: triage groups findings
 * by target and oracle. The message needs no newline. */
_Noreturn void bs_fuzz_fail(const char *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* If set, bs_fuzz_fail calls this function instead, which must leave by longjmp: engines/starve.c
 * runs targets without enough memory and ignores what their oracles report. */
extern void (*bs_fuzz_escape)(void);

#endif
