#define _GNU_SOURCE
#include "shim/answer.h"

#include <sha2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { LARGE_STREAM = 1024 * 1024, HEAD_AND_TAIL = 4096 };

void bs_put_given(struct bs_buf *out, const cJSON *item) {
    size_t len = 0;
    bool is_string = false;
    const char *view = bs_json_view(item, &len);
    if (view != NULL) {
        bs_json_put_string(out, view, len);
        return;
    }
    char *bytes = bs_json_bytes(item, &len, &is_string);
    if (bytes != NULL)
        bs_json_put_string(out, bytes, len);
    else if (is_string)
        out->failed = true;
    else
        bs_buf_str(out, "null");
    free(bytes);
}

void bs_answer_open(struct bs_buf *out, const cJSON *id, const char *key) {
    bs_buf_str(out, "{\"id\":");
    bs_put_given(out, id);
    bs_buf_str(out, ",\"");
    bs_buf_str(out, key);
    bs_buf_str(out, "\":");
}

void bs_answer_close(struct bs_buf *out) { bs_buf_str(out, "}\n"); }

/* Messages may carry a program's name, which is bytes. */
static void put_lossy(struct bs_buf *out, const char *text, size_t len) {
    struct bs_buf copy = BS_BUF_INIT;
    bs_buf_add(&copy, text, len);
    struct bs_bytes bytes = bs_buf_take(&copy);
    if (bs_bytes_to_text(&bytes) != BS_OK || (len > 0 && bytes.data == NULL))
        out->failed = true;
    else
        bs_json_put_string(out, bytes.data != NULL ? bytes.data : "", bytes.len);
    bs_bytes_clear(&bytes);
}

void bs_put_error(struct bs_buf *out, const char *kind, const char *message, size_t message_len) {
    bs_buf_str(out, "{\"kind\":\"");
    bs_buf_str(out, kind);
    bs_buf_str(out, "\",\"message\":");
    put_lossy(out, message, message_len);
    bs_buf_char(out, '}');
}

enum bs_answer bs_answer_problems(struct bs_buf *out, const cJSON *id,
                                  const struct bs_decoder *decoder) {
    if (bs_decoder_out_of_memory(decoder)) {
        const struct bs_error err = {BS_E_EXECUTION, 0, "out of memory for the request"};
        return bs_answer_error(out, id, err.code, &err);
    }
    bs_answer_open(out, id, "error");
    bs_buf_str(out, "{\"kind\":\"invalid_input\",\"message\":");
    bs_json_put_string(out, decoder->first.data, decoder->first.len);
    bs_buf_str(out, ",\"problems\":[");
    bs_buf_add(out, decoder->problems.data, decoder->problems.len);
    bs_buf_str(out, "]}");
    bs_answer_close(out);
    return BS_INVALID_INPUT;
}

const char *bs_error_kind(int code) {
    switch (code) {
    case BS_E_DENIED:
        return "policy_denied";
    case BS_E_INVALID:
        return "invalid_input";
    case BS_E_IO:
        return "io";
    default:
        return "execution";
    }
}

enum bs_answer bs_answer_error(struct bs_buf *out, const cJSON *id, int code,
                               const struct bs_error *err) {
    bs_answer_open(out, id, "error");
    bs_put_error(out, bs_error_kind(code), err->message, strlen(err->message));
    bs_answer_close(out);
    return code == BS_E_INVALID ? BS_INVALID_INPUT : BS_ANSWERED;
}

static void put_sha256(struct bs_buf *out, const struct bs_bytes *text) {
    SHA2_CTX context;
    char hex[SHA256_DIGEST_STRING_LENGTH];
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)text->data, text->len);
    SHA256End(&context, hex);
    bs_buf_char(out, '"');
    bs_buf_str(out, hex);
    bs_buf_char(out, '"');
}

static void put_stream(struct bs_buf *out, const struct bs_bytes *text) {
    if (text->len <= LARGE_STREAM) {
        bs_json_put_string(out, text->len > 0 ? text->data : "", text->len);
        return;
    }
    bs_buf_str(out, "{\"bytes\":");
    bs_buf_u64(out, text->len);
    bs_buf_str(out, ",\"sha256\":");
    put_sha256(out, text);
    bs_buf_str(out, ",\"head_b64\":");
    bs_json_put_base64(out, text->data, HEAD_AND_TAIL);
    bs_buf_str(out, ",\"tail_b64\":");
    bs_json_put_base64(out, text->data + text->len - HEAD_AND_TAIL, HEAD_AND_TAIL);
    bs_buf_char(out, '}');
}

static const char *termination_name(enum bs_termination termination) {
    static const char *const names[] = {
        [BS_ENDED_EXIT] = "exit",       [BS_ENDED_SIGNAL] = "signal",
        [BS_ENDED_TIMEOUT] = "timeout", [BS_ENDED_PARENT_SIGNAL] = "parent_signal",
        [BS_ENDED_CAP] = "cap",         [BS_ENDED_STDIN] = "stdin",
        [BS_ENDED_CANCEL] = "cancel"};
    return names[termination];
}

void bs_put_signal(struct bs_buf *out, int signo) {
    const char *name = sigabbrev_np(signo);
    if (signo == 0) {
        bs_buf_str(out, "null");
        return;
    }
    bs_buf_str(out, "\"SIG");
    if (name != NULL) {
        bs_buf_str(out, name);
    } else {
        bs_buf_str(out, "RTMIN+"); /* only real-time signals have no name of their own */
        bs_buf_u64(out, (uint64_t)(signo - SIGRTMIN));
    }
    bs_buf_char(out, '"');
}

static void put_bool(struct bs_buf *out, bool value) { bs_buf_str(out, value ? "true" : "false"); }

void bs_put_result(struct bs_buf *out, struct bs_exec_result *result) {
    if (bs_exec_result_text(result) != BS_OK) {
        out->failed = true;
        return;
    }
    bs_buf_str(out, "{\"success\":");
    put_bool(out, result->success);
    bs_buf_str(out, ",\"stdout\":");
    put_stream(out, &result->out);
    bs_buf_str(out, ",\"stderr\":");
    put_stream(out, &result->err);
    bs_buf_str(out, ",\"exit_code\":");
    if (result->has_exit_code)
        bs_buf_u64(out, (uint64_t)result->exit_code);
    else
        bs_buf_str(out, "null");
    bs_buf_str(out, ",\"duration_ms\":");
    bs_buf_u64(out, result->duration_ms);
    bs_buf_str(out, ",\"output\":null,\"termination\":\"");
    bs_buf_str(out, termination_name(result->termination));
    bs_buf_str(out, "\",\"signal\":");
    bs_put_signal(out, result->signal);
    bs_buf_str(out, ",\"truncated\":");
    put_bool(out, result->truncated != 0);
    bs_buf_str(out, ",\"detached_writers\":");
    put_bool(out, result->detached_writers);
    bs_buf_str(out, ",\"group_left\":");
    bs_buf_u64(out, result->group_left);
    bs_buf_str(out, ",\"pending_signals\":[");
    if ((result->pending_signals & BS_PENDING_SIGINT) != 0)
        bs_buf_str(out, "\"SIGINT\"");
    if (result->pending_signals == (BS_PENDING_SIGINT | BS_PENDING_SIGTERM))
        bs_buf_char(out, ',');
    if ((result->pending_signals & BS_PENDING_SIGTERM) != 0)
        bs_buf_str(out, "\"SIGTERM\"");
    bs_buf_str(out, "]}");
}
