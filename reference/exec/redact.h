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
    bool starts[256]; /* by first byte: ordinary text costs one lookup per byte */
};

/* Collect the secrets of the calling process's environment and of the pairs. Returns 0 or ENOMEM.
 */
int bs_secrets_collect(struct bs_secrets *secrets, const struct bs_env_pair *env, size_t n_env);
void bs_secrets_clear(struct bs_secrets *secrets);

/* The state of one stream. Overlapping matches become one replacement. The end of the text is held
 * back while it may be the beginning of a secret. */
struct bs_redactor {
    const struct bs_secrets *secrets; /* borrowed */
    struct bs_buf held;
    size_t covered; /* bytes at the start of `held` that belong to a replacement already written */
};

#define BS_REDACTOR_INIT(secrets)                                                                  \
    { secrets, BS_BUF_INIT, 0 }

/* Append the text that is decided to `out`. `end`: no more text follows, so all of it is decided.
 */
void bs_redact(struct bs_redactor *redactor, const char *data, size_t len, bool end,
               struct bs_buf *out);
void bs_redactor_clear(struct bs_redactor *redactor);

#endif
