#define _GNU_SOURCE
#include "exec/redact.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

static const char replacement[] = "[REDACTED_ENV]";

enum { SHORTEST_SECRET = 4 }; /* characters */

static const char *const anywhere[] = {"SECRET",  "TOKEN",   "PASSWORD",   "PASSWD", "PASSCODE",
                                       "API_KEY", "PRIVATE", "CREDENTIAL", "COOKIE", "BEARER"};
static const char *const whole_words[] = {"AUTH", "SESSION"};

/* True if the name has this word. The words of a name are separated by underscores. */
static bool has_word(const char *name, const char *word) {
    size_t len = strlen(word);
    for (const char *at = name; at != NULL; at = strchr(at, '_')) {
        if (*at == '_')
            at++;
        if (strncasecmp(at, word, len) == 0 && (at[len] == '\0' || at[len] == '_'))
            return true;
    }
    return false;
}

bool bs_sensitive_name(const char *name) {
    for (size_t i = 0; i < sizeof anywhere / sizeof *anywhere; i++) {
        if (strcasestr(name, anywhere[i]) != NULL)
            return true;
    }
    for (size_t i = 0; i < sizeof whole_words / sizeof *whole_words; i++) {
        if (has_word(name, whole_words[i]))
            return true;
    }
    size_t len = strlen(name);
    return len >= 4 && strcasecmp(name + len - 4, "_KEY") == 0;
}

/* Count characters. Invalid UTF-8 counts one per maximal subpart, as in bs_bytes_to_text. */
static size_t characters(const char *text, size_t len) {
    size_t count = 0;
    while (len > 0) {
        size_t step = bs_utf8_valid_prefix(text, len);
        for (size_t i = 0; i < step; i++)
            count += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (step < len) {
            step += bs_utf8_maximal_subpart(text + step, len - step);
            count++;
        }
        text += step;
        len -= step;
    }
    return count;
}

static bool is_long_enough(const char *value) {
    size_t len = strlen(value);
    while (len > 0 && isspace((unsigned char)value[len - 1]))
        len--;
    while (len > 0 && isspace((unsigned char)*value)) {
        value++;
        len--;
    }
    return characters(value, len) >= SHORTEST_SECRET;
}

static int add_secret(struct bs_secrets *secrets, size_t *cap, const char *value) {
    if (!is_long_enough(value))
        return 0;
    if (secrets->n == *cap) {
        *cap = *cap > 0 ? *cap * 2 : 16;
        struct bs_secret *grown = realloc(secrets->list, *cap * sizeof *grown);
        if (grown == NULL)
            return ENOMEM;
        secrets->list = grown;
    }
    secrets->list[secrets->n++] = (struct bs_secret){value, strlen(value)};
    secrets->starts[(unsigned char)*value] = true;
    return 0;
}

int bs_secrets_collect(struct bs_secrets *secrets, const struct bs_env_pair *env, size_t n_env) {
    *secrets = (struct bs_secrets){0};
    size_t cap = 0;
    int os_error = 0;
    for (char **entry = environ; os_error == 0 && entry != NULL && *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals == NULL)
            continue;
        char *name = strndup(*entry, (size_t)(equals - *entry));
        if (name == NULL)
            os_error = ENOMEM;
        else if (bs_sensitive_name(name))
            os_error = add_secret(secrets, &cap, equals + 1);
        free(name);
    }
    for (size_t i = 0; os_error == 0 && i < n_env; i++) {
        if (bs_sensitive_name(env[i].name))
            os_error = add_secret(secrets, &cap, env[i].value);
    }
    if (os_error != 0)
        bs_secrets_clear(secrets);
    return os_error;
}

void bs_secrets_clear(struct bs_secrets *secrets) {
    free(secrets->list);
    *secrets = (struct bs_secrets){0};
}

/* Return the length of the longest secret that begins at text[0], or 0. *partial becomes true if
 * the text ends in the middle of a secret. */
static size_t match_secret(const struct bs_secrets *secrets, const char *text, size_t len,
                           bool *partial) {
    size_t longest = 0;
    for (size_t i = 0; i < secrets->n; i++) {
        const struct bs_secret *secret = &secrets->list[i];
        size_t compare = secret->len < len ? secret->len : len;
        if (memcmp(text, secret->value, compare) != 0)
            continue;
        if (secret->len > len)
            *partial = true;
        else if (secret->len > longest)
            longest = secret->len;
    }
    return longest;
}

void bs_redact(struct bs_redactor *redactor, const char *data, size_t len, bool end,
               struct bs_buf *out) {
    const struct bs_secrets *secrets = redactor->secrets;
    struct bs_buf *held = &redactor->held;
    bs_buf_add(held, data, len);
    size_t covered = redactor->covered;
    size_t plain = 0; /* start of the ordinary text that is not written yet */
    size_t at = 0;
    for (; at < held->len; at++) {
        if (at == covered)
            plain = at;
        if (!secrets->starts[(unsigned char)held->data[at]])
            continue;
        bool partial = false;
        size_t found = match_secret(secrets, held->data + at, held->len - at, &partial);
        if (partial && !end)
            break; /* a longer secret may begin here, so more text is needed */
        if (found == 0)
            continue;
        if (at >= covered) {
            bs_buf_add(out, held->data + plain, at - plain);
            bs_buf_str(out, replacement);
        }
        if (at + found > covered)
            covered = at + found;
        plain = covered;
    }
    if (at > covered)
        bs_buf_add(out, held->data + plain, at - plain);
    redactor->covered = covered > at ? covered - at : 0;
    held->len -= at;
    if (held->len > 0)
        memmove(held->data, held->data + at, held->len);
}

void bs_redactor_clear(struct bs_redactor *redactor) {
    bs_buf_clear(&redactor->held);
    redactor->covered = 0;
}
