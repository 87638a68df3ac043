#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json_write.h"

static void put_time(struct bs_json_writer *out, struct timespec when) {
    char text[64];
    struct tm t;
    if (gmtime_r(&when.tv_sec, &t) == NULL)
        memset(&t, 0, sizeof t);
    (void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", t.tm_year + 1900,
                   t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, when.tv_nsec / 1000000);
    bs_json_put_text(out, text);
}

int bs_audit_event(const struct bs_profile *profile, enum bs_op op,
                   const struct bs_decision *decision, struct timespec when, struct bs_bytes *out,
                   struct bs_error *err) {
    struct bs_json_writer event = BS_JSON_WRITER_INIT;
    bs_json_open_object(&event);
    bs_json_put_key(&event, "time");
    put_time(&event, when);
    bs_json_put_key(&event, "profile");
    bs_json_put_text(&event, bs_profile_name(profile));
    bs_json_put_key(&event, "profile_origin");
    bs_json_put_text(&event, bs_profile_is_synthesized(profile) ? "synthesized" : "defined");
    bs_json_put_key(&event, "op");
    bs_json_put_text(&event, op == BS_OP_MODIFY ? "modify" : "read");
    bs_json_put_key(&event, "path");
    bs_json_put_string(&event, decision->path, decision->path_len);
    bs_json_put_key(&event, "allowed");
    bs_json_put_bool(&event, decision->allowed);
    bs_json_put_key(&event, "matched_rule");
    bs_json_put_string(&event, decision->matched_rule, decision->matched_rule_len);
    bs_json_close_object(&event);
    if (event.text.failed) {
        bs_json_writer_clear(&event);
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for an audit event");
    }
    *out = bs_buf_take(&event.text);
    return BS_OK;
}
