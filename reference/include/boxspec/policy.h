/* Policies: files of rules, loaded, validated and merged.
 *
 *   1. Fill one or two struct bs_policy_text and a report from BS_POLICY_REPORT_INIT.
 *   2. Call bs_policy_load. If it returns 0, *policy is the validated policy, and the report has
 *      its warnings. If it returns a negative code, *policy is untouched, and the report has all
 *      problems and their places.
 *   3. Compile a profile of the policy (boxspec/profile.h), and check paths with the profile.
 *   4. Call bs_policy_report_clear and bs_policy_free.
 *
 * A policy is immutable once loaded; any number of threads may use it at once.
 *
 * Rules come from the policy contract, conformance/contracts/policy/page.md; the ids there
 * (POLICY-...) name them. */
#ifndef BOXSPEC_POLICY_H
#define BOXSPEC_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include <boxspec/bytes.h>
#include <boxspec/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BS_POLICY_MOST_BYTES (4UL * 1024 * 1024) /* size of one file */
#define BS_POLICY_MOST_DEPTH 64                  /* nesting of one file */

enum bs_policy_format { BS_POLICY_JSON, BS_POLICY_YAML };

enum bs_policy_source {
    BS_FROM_GLOBAL,
    BS_FROM_WORKSPACE,
    /* not in a file: the profile `unrestricted` of a policy that does not define it */
    BS_SYNTHESIZED
};

struct bs_policy_text {
    const char *data; /* need not end in a NUL */
    size_t len;       /* bytes */
    enum bs_policy_format format;
};

struct bs_policy_problem {
    enum bs_policy_source source; /* which file */
    uint32_t line;                /* from 1 */
    uint32_t column;              /* from 1, in code points */
    const char *code;    /* kind of a warning: "matches-nothing", ...; NULL for a problem */
    const char *pointer; /* JSON pointer (RFC 6901); "" is the whole file */
    const char *message; /* for people: the mistake and the remedy */
};

/* Owns all its members until bs_policy_report_clear, which may be called any number of times. */
struct bs_policy_report {
    struct bs_policy_problem *problems; /* sorted by file, line and column */
    size_t n_problems;
    struct bs_policy_problem *warnings;
    size_t n_warnings;
    struct bs_arena *arena;
};

#define BS_POLICY_REPORT_INIT                                                                      \
    { 0, 0, 0, 0, 0 }

struct bs_policy;

/* Load the policy `global`. If `workspace` is not NULL, merge it over the global one. The texts are
 * used only during the call. Returns 0, BS_E_INVALID with the problems in the report and the first
 * of them in *err, or BS_E_EXECUTION if memory ran out. */
BS_EXPORT int bs_policy_load(const struct bs_policy_text *global,
                             const struct bs_policy_text *workspace, struct bs_policy **policy,
                             struct bs_policy_report *report, struct bs_error *err);
BS_EXPORT void bs_policy_report_clear(struct bs_policy_report *report);
BS_EXPORT void bs_policy_free(struct bs_policy *policy);

BS_EXPORT const char *bs_policy_name(const struct bs_policy *policy);

/* Return the description, or NULL if there is none. Both texts belong to the policy. */
BS_EXPORT const char *bs_policy_description(const struct bs_policy *policy);

/* Print the policy as one file. Loading that file gives this policy again, and printing it again
 * gives the same text. A policy that was merged from two files is printed as one. The caller clears
 * *out. Returns 0, or BS_E_EXECUTION if memory ran out; *out is untouched then. */
BS_EXPORT int bs_policy_print(const struct bs_policy *policy, enum bs_policy_format format,
                              struct bs_bytes *out, struct bs_error *err);

/* Draft a file of version 2, in YAML, from a file of version 1. Known members move to their new
 * place, and unknown members become comments. The draft lists the decisions that a person has to
 * make. The caller clears *out. Returns 0, BS_E_INVALID with the problem in the report if the file
 * is not well-formed or not of version 1, or BS_E_EXECUTION if memory ran out. */
BS_EXPORT int bs_policy_migrate(const struct bs_policy_text *v1, struct bs_bytes *out,
                                struct bs_policy_report *report, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
