#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "exec/redact.h"

/* Quote a string. Control characters are escaped too, so that the text stays on one log line. */
static void quote(struct bs_buf *out, const char *text) {
    bs_buf_char(out, '"');
    for (; *text != '\0'; text++) {
        char escaped[16];
        switch (*text) {
        case '"':
            bs_buf_str(out, "\\\"");
            break;
        case '\\':
            bs_buf_str(out, "\\\\");
            break;
        case '\n':
            bs_buf_str(out, "\\n");
            break;
        case '\r':
            bs_buf_str(out, "\\r");
            break;
        case '\t':
            bs_buf_str(out, "\\t");
            break;
        default:
            if ((unsigned char)*text < 0x20 || *text == 0x7F) {
                (void)snprintf(escaped, sizeof escaped, "\\u{%x}", (unsigned)(unsigned char)*text);
                bs_buf_str(out, escaped);
            } else {
                bs_buf_char(out, *text);
            }
        }
    }
    bs_buf_char(out, '"');
}

int bs_exec_format_env(enum bs_env_mode mode, const struct bs_env_pair *env, size_t n_env,
                       struct bs_bytes *out, struct bs_error *err) {
    struct bs_buf text = BS_BUF_INIT;
    if (mode == BS_ENV_INHERIT) {
        bs_buf_str(&text, "Inherit");
    } else {
        bs_buf_str(&text, "ClearAndSet([");
        for (size_t i = 0; i < n_env; i++) {
            bs_buf_str(&text, i > 0 ? ", (" : "(");
            quote(&text, env[i].name);
            bs_buf_str(&text, ", ");
            if (bs_sensitive_name(env[i].name))
                bs_buf_str(&text, "\"[REDACTED]\"");
            else
                quote(&text, env[i].value);
            bs_buf_char(&text, ')');
        }
        bs_buf_str(&text, "])");
    }
    if (text.failed) {
        bs_buf_clear(&text);
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    }
    *out = bs_buf_take(&text);
    return bs_bytes_to_text(out);
}
