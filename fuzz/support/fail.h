/* Reports the failure of an oracle.
 *
 * assert() is not used, because NDEBUG must not disable the report and triage needs the name of the
 * oracle. bs_fuzz_fail writes one line to stderr, `boxspec-fuzz: TARGET: ORACLE: message`, and then
 * the case in readable form (support/case.h). It ends the process by SIGABRT, which every engine
 * reports as a finding. */
#ifndef BS_FUZZ_FAIL_H
#define BS_FUZZ_FAIL_H

/* Report a failure. `oracle` is one of the names that fuzz/targets.json lists for the target,
 * because triage groups findings by target and oracle. The message needs no newline. */
_Noreturn void bs_fuzz_fail(const char *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* If set, bs_fuzz_fail calls this function instead, which must leave by longjmp. engines/starve.c
 * sets it, because it runs targets without enough memory and ignores what their oracles report. */
extern void (*bs_fuzz_escape)(void);

#endif
