#define _GNU_SOURCE
#include "shim/answer.h"

#include <sha2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_STREAM = 1024 * 1024, HEAD_AND_TAIL = 4096 };

void bs_put_given(struct bs_json_writer *out, const cJSON *item) {
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
        out->text.failed = true;
    else
        bs_json_put_null(out);
    free(bytes);
}

void bs_answer_open(struct bs_json_writer *out, const cJSON *id, const char *key) {
    bs_json_open_object(out);
    bs_json_put_key(out, "id");
    bs_put_given(out, id);
    bs_json_put_key(out, key);
}

void bs_answer_close(struct bs_json_writer *out) {
    bs_json_close_object(out);
    bs_json_end_line(out);
}

static const char *error_kind(int code) {
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

/* Write the kind and the message of an error. The message may contain the name of a program, which
 * need not be UTF-8. */
void bs_put_message(struct bs_json_writer *out, int code, const char *message) {
    bs_json_put_key(out, "kind");
    bs_json_put_text(out, error_kind(code));
    bs_json_put_key(out, "message");
    bs_json_put_lossy(out, message, strlen(message));
}

void bs_put_error(struct bs_json_writer *out, int code, const char *message) {
    bs_json_put_key(out, "error");
    bs_json_open_object(out);
    bs_put_message(out, code, message);
    bs_json_close_object(out);
}

enum bs_answer bs_answer_problems(struct bs_json_writer *out, const cJSON *id,
                                  const struct bs_decoder *decoder) {
    if (bs_decoder_out_of_memory(decoder))
        return bs_answer_error(out, id, BS_E_EXECUTION, "out of memory for the request");
    bs_answer_open(out, id, "error");
    bs_json_open_object(out);
    bs_json_put_key(out, "kind");
    bs_json_put_text(out, error_kind(BS_E_INVALID));
    bs_json_put_key(out, "message");
    bs_decoder_put_first_problem(decoder, out);
    bs_json_put_key(out, "problems");
    bs_decoder_put_problems(decoder, out);
    bs_json_close_object(out);
    bs_answer_close(out);
    return BS_INVALID_INPUT;
}

enum bs_answer bs_answer_error(struct bs_json_writer *out, const cJSON *id, int code,
                               const char *message) {
    bs_answer_open(out, id, "error");
    bs_json_open_object(out);
    bs_put_message(out, code, message);
    bs_json_close_object(out);
    bs_answer_close(out);
    return code == BS_E_INVALID ? BS_INVALID_INPUT : BS_ANSWERED;
}

static void put_sha256(struct bs_json_writer *out, const struct bs_bytes *text) {
    SHA2_CTX context;
    char hex[SHA256_DIGEST_STRING_LENGTH];
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)text->data, text->len);
    SHA256End(&context, hex);
    bs_json_put_text(out, hex);
}

static void put_stream(struct bs_json_writer *out, const struct bs_bytes *text) {
    if (text->len <= LARGE_STREAM) {
        bs_json_put_string(out, text->len > 0 ? text->data : "", text->len);
        return;
    }
    bs_json_open_object(out);
    bs_json_put_key(out, "bytes");
    bs_json_put_u64(out, text->len);
    bs_json_put_key(out, "sha256");
    put_sha256(out, text);
    bs_json_put_key(out, "head_b64");
    bs_json_put_base64(out, text->data, HEAD_AND_TAIL);
    bs_json_put_key(out, "tail_b64");
    bs_json_put_base64(out, text->data + text->len - HEAD_AND_TAIL, HEAD_AND_TAIL);
    bs_json_close_object(out);
}

static const char *termination_name(enum bs_termination termination) {
    static const char *const names[] = {
        [BS_ENDED_EXIT] = "exit",       [BS_ENDED_SIGNAL] = "signal",
        [BS_ENDED_TIMEOUT] = "timeout", [BS_ENDED_PARENT_SIGNAL] = "parent_signal",
        [BS_ENDED_CAP] = "cap",         [BS_ENDED_STDIN] = "stdin",
        [BS_ENDED_CANCEL] = "cancel"};
    return names[termination];
}

void bs_put_signal(struct bs_json_writer *out, int signo) {
    char text[32];
    const char *name = sigabbrev_np(signo);
    if (signo == 0) {
        bs_json_put_null(out);
        return;
    }
    if (name != NULL)
        (void)snprintf(text, sizeof text, "SIG%s", name);
    else /* only real-time signals have no name, so they are numbered from SIGRTMIN */
        (void)snprintf(text, sizeof text, "SIGRTMIN+%d", signo - SIGRTMIN);
    bs_json_put_text(out, text);
}

static void put_pending(struct bs_json_writer *out, unsigned pending) {
    bs_json_open_array(out);
    if ((pending & BS_PENDING_SIGINT) != 0)
        bs_json_put_text(out, "SIGINT");
    if ((pending & BS_PENDING_SIGTERM) != 0)
        bs_json_put_text(out, "SIGTERM");
    bs_json_close_array(out);
}

void bs_put_result(struct bs_json_writer *out, struct bs_exec_result *result) {
    if (bs_exec_result_text(result) != BS_OK) {
        out->text.failed = true;
        return;
    }
    bs_json_put_key(out, "success");
    bs_json_put_bool(out, result->success);
    bs_json_put_key(out, "stdout");
    put_stream(out, &result->out);
    bs_json_put_key(out, "stderr");
    put_stream(out, &result->err);
    bs_json_put_key(out, "exit_code");
    if (result->has_exit_code)
        bs_json_put_u64(out, (uint64_t)result->exit_code);
    else
        bs_json_put_null(out);
    bs_json_put_key(out, "duration_ms");
    bs_json_put_u64(out, result->duration_ms);
    bs_json_put_key(out, "output");
    bs_json_put_null(out);
    bs_json_put_key(out, "termination");
    bs_json_put_text(out, termination_name(result->termination));
    bs_json_put_key(out, "signal");
    bs_put_signal(out, result->signal);
    bs_json_put_key(out, "truncated");
    bs_json_put_bool(out, result->truncated != 0);
    bs_json_put_key(out, "detached_writers");
    bs_json_put_bool(out, result->detached_writers);
    bs_json_put_key(out, "killed_writers");
    bs_json_put_bool(out, result->killed_writers);
    bs_json_put_key(out, "group_left");
    bs_json_put_u64(out, result->group_left);
    bs_json_put_key(out, "pending_signals");
    put_pending(out, result->pending_signals);
}
