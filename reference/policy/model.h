/* A policy in memory, as load, validate and merge leave it: plain data, immutable from then on. */
#ifndef BS_POLICY_MODEL_H
#define BS_POLICY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/policy.h>

struct bs_rule {
    const char *body; /* normal form, NUL-terminated; `.` is the root */
    uint32_t len;     /* bytes of it */
    uint32_t line;    /* 1-based, in the file of source; 0 for a synthesised rule */
    uint32_t column;
    uint32_t index; /* in its list in the file, from 0 */
    uint32_t hash;  /* of the body (policy/document/cover.h), while the policy is being loaded */
    bool negated;
    enum bs_policy_source source : 8; /* one byte, so that a rule is half a cache line */
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
    const char *name; /* NUL-terminated; a NUL inside is refused when loading */
    uint32_t line;    /* of its name in the file of source */
    uint32_t column;
    struct bs_rules read;
    struct bs_rules modify;
    enum bs_policy_source source;
};

struct bs_profile_name {
    const char *name;
    const struct bs_profile_rules *profile;
};

/* The arena holds all data; bs_policy_free frees it. */
struct bs_policy {
    const char *name;
    const char *description;     /* may be NULL */
    struct bs_rules deny_read;   /* no rule is negated */
    struct bs_rules deny_modify; /* negated: an exception */
    struct bs_pairs labels;
    struct bs_pairs annotations;
    struct bs_profile_rules *profiles; /* in the order of the file */
    size_t n_profiles;
    struct bs_profile_name *by_name; /* the same, sorted */
    uint64_t seed;                   /* of the hashes of its rules */
    struct bs_arena *arena;
};

/* Returns the profile of that name, or NULL. */
const struct bs_profile_rules *bs_policy_profile(const struct bs_policy *policy, const char *name);

#endif
