/* Find secrets in environment variables and replace their values in a stream. */
#ifndef BS_EXEC_REDACT_H
#define BS_EXEC_REDACT_H

#include <boxspec/exec.h>

#include "base/buf.h"

/* True if a variable of this name counts as a secret. Case does not matter. */
bool bs_sensitive_name(const char *name);

struct bs_secret {
    const char *value; /* borrowed from the environment or the request */
    size_t len;
};

struct bs_secrets {
    struct bs_secret *list;
    size_t n;
    /* indexed by the first byte of a secret, so that ordinary text costs one lookup per byte */
    bool starts[256];
};

/* Collect the secrets of this process's environment and of the pairs. Returns 0 or ENOMEM. */
int bs_secrets_collect(struct bs_secrets *secrets, const struct bs_env_pair *env, size_t n_env);
void bs_secrets_clear(struct bs_secrets *secrets);

/* The state of one stream. Secrets that overlap are replaced together by one replacement. The end
 * of the text is not written while it may be the beginning of a secret. */
struct bs_redactor {
    const struct bs_secrets *secrets; /* borrowed */
    struct bs_buf held;
    /* bytes at the start of `held` that belong to a secret whose replacement is already written */
    size_t covered;
};

#define BS_REDACTOR_INIT(secrets)                                                                  \
    { secrets, BS_BUF_INIT, 0 }

/* Append to `out` all text about which no doubt is left, with its secrets replaced. If `end` is
 * true, no more text follows, so the rest is appended too. */
void bs_redact(struct bs_redactor *redactor, const char *data, size_t len, bool end,
               struct bs_buf *out);
void bs_redactor_clear(struct bs_redactor *redactor);

#endif
