#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json_put.h"

static void put_time(struct bs_buf *out, struct timespec when) {
    char text[64];
    struct tm t;
    if (gmtime_r(&when.tv_sec, &t) == NULL)
        memset(&t, 0, sizeof t);
    (void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", t.tm_year + 1900,
                   t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, when.tv_nsec / 1000000);
    bs_json_put_string(out, text, strlen(text));
}

int bs_audit_event(const struct bs_profile *profile, enum bs_op op,
                   const struct bs_decision *decision, struct timespec when, struct bs_bytes *out,
                   struct bs_error *err) {
    struct bs_buf text = BS_BUF_INIT;
    const char *name = bs_profile_name(profile);
    bs_buf_str(&text, "{\"time\":");
    put_time(&text, when);
    bs_buf_str(&text, ",\"profile\":");
    bs_json_put_string(&text, name, strlen(name));
    bs_buf_str(&text, bs_profile_is_synthesized(profile) ? ",\"profile_origin\":\"synthesized\""
                                                         : ",\"profile_origin\":\"defined\"");
    bs_buf_str(&text, op == BS_OP_MODIFY ? ",\"op\":\"modify\"" : ",\"op\":\"read\"");
    bs_buf_str(&text, ",\"path\":");
    bs_json_put_string(&text, decision->path, decision->path_len);
    bs_buf_str(&text, decision->allowed ? ",\"allowed\":true" : ",\"allowed\":false");
    bs_buf_str(&text, ",\"matched_rule\":");
    bs_json_put_string(&text, decision->matched_rule, decision->matched_rule_len);
    bs_buf_char(&text, '}');
    if (text.failed) {
        bs_buf_clear(&text);
        return bs_fail(err, BS_E_EXECUTION, 0, "no memory for an audit event");
    }
    *out = bs_buf_take(&text);
    return BS_OK;
}
