/* A policy in memory, as it is after loading, validating and merging. It is plain data and does not
 * change afterwards. */
#ifndef BS_POLICY_MODEL_H
#define BS_POLICY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/policy.h>

struct bs_rule {
    const char *body; /* in normal form, NUL-terminated; `.` is the root */
    uint32_t len;     /* length of the body */
    uint32_t line;    /* from 1, in the file `source`; 0 for a rule that is in no file */
    uint32_t column;
    uint32_t index; /* position in its list in the file, from 0 */
    /* hash of the body (policy/document/cover.h); used only while the policy is loaded */
    uint32_t hash;
    bool negated;
    bool names_folder; /* ends in a separator, so it matches a directory but no path below it */
    /* one byte, so that a rule has the size of half a cache line */
    enum bs_policy_source source : 8;
};

struct bs_rules {
    struct bs_rule *items;
    size_t n;
};

struct bs_pair {
    const char *name;
    const char *value;
};

struct bs_pairs {
    struct bs_pair *items;
    size_t n;
};

struct bs_profile_rules {
    const char *name; /* NUL-terminated; a name with a NUL inside is refused */
    uint32_t line;    /* line of the name in the file of `source` */
    uint32_t column;
    struct bs_rules read;
    struct bs_rules modify;
    enum bs_policy_source source;
};

struct bs_profile_name {
    const char *name;
    const struct bs_profile_rules *profile;
};

/* A policy. Its arena holds all data, and bs_policy_free frees it. */
struct bs_policy {
    const char *name;
    const char *description;     /* may be NULL */
    struct bs_rules deny_read;   /* denyRead: no rule is negated */
    struct bs_rules deny_modify; /* denyModify: a negated rule is an exception */
    struct bs_pairs labels;
    struct bs_pairs annotations;
    struct bs_profile_rules *profiles; /* in the order of the file */
    size_t n_profiles;
    struct bs_profile_name *by_name; /* the profiles sorted by name */
    uint64_t seed;                   /* seed of the hashes of the rules */
    struct bs_arena *arena;
};

/* Return the profile of that name, or NULL. */
const struct bs_profile_rules *bs_policy_profile(const struct bs_policy *policy, const char *name);

#endif
