#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "shim/ops.h"
#include "shim/policies.h"
#include "shim/sbpl_request.h"

/* Where the profile text is: in an existing file, or in `text`, which is written to a new file in
 * `dir`. */
struct place {
    const char *file;
    const char *dir;
    const char *text;
    size_t text_len;
};

static void decode_place(struct bs_decoder *decoder, const cJSON *request, struct place *place) {
    char at[BS_POINTER_MOST];
    bool base64 = false;
    *place = (struct place){.file = bs_decode_text(decoder, request, "", "file", false)};
    place->dir = bs_decode_text(decoder, request, "", "dir", false);
    const cJSON *text = bs_decode_either(decoder, request, "", "text", &base64, at);
    if (text != NULL)
        place->text = bs_decode_bytes(decoder, text, at, base64, &place->text_len);
    bool made = place->dir != NULL || text != NULL;
    if (place->file != NULL && made)
        bs_problem(decoder, "/file", "give `file`, or `text` and `dir`, not both");
    else if (made && (place->dir == NULL || text == NULL))
        bs_problem(decoder, text == NULL ? "/text" : "/dir", "`text` and `dir` belong together");
    else if (!made && place->file == NULL)
        bs_problem(decoder, "/file", "`file` (or `text` and `dir`) is missing");
}

static enum bs_sbpl_wrapper decode_wrapper(struct bs_decoder *decoder, const cJSON *request) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(request, "wrapper");
    if (item == NULL)
        return BS_WRAPPER_LOOK;
    if (bs_is_word(item, "present"))
        return BS_WRAPPER_PRESENT;
    if (!bs_is_word(item, "missing"))
        bs_problem(decoder, "/wrapper", "must be \"present\" or \"missing\"");
    return BS_WRAPPER_MISSING;
}

static void decode_hold(struct bs_decoder *decoder, const struct bs_call *call) {
    const cJSON *hold = cJSON_GetObjectItemCaseSensitive(call->request, "hold");
    if (hold != NULL && !cJSON_IsString(hold))
        bs_problem(decoder, "/hold", "must be a string");
    else if (hold != NULL && call->mode == BS_MODE_SERVE)
        bs_problem(decoder, "/hold", "not under `serve`, which removes the file before it answers");
}

static void put_argv(struct bs_json_writer *out, char *const *argv) {
    bool text = true;
    for (size_t i = 0; argv[i] != NULL; i++)
        text &= bs_utf8_valid_prefix(argv[i], strlen(argv[i])) == strlen(argv[i]);
    bs_json_put_key(out, text ? "argv" : "argv_b64");
    bs_json_open_array(out);
    for (size_t i = 0; argv[i] != NULL; i++) {
        if (text)
            bs_json_put_text(out, argv[i]);
        else
            bs_json_put_base64(out, argv[i], strlen(argv[i]));
    }
    bs_json_close_array(out);
}

static void put_writable(struct bs_json_writer *out, const char *file) {
    char *words = NULL;
    if (asprintf(&words,
                 "%s: the profile allows a program to write to its own file; name a `dir` that "
                 "the profile does not allow to write to",
                 file) >= 0)
        bs_json_put_text(out, words);
    free(words);
}

static void put_wrapped(struct bs_json_writer *out, const struct bs_sbpl_wrapped *wrapped,
                        const struct bs_sbpl_file *file) {
    bs_json_open_object(out);
    put_argv(out, wrapped->argv);
    bs_json_put_key(out, "wrapped");
    bs_json_put_bool(out, wrapped->active);
    bs_json_put_key(out, "warnings");
    bs_json_open_array(out);
    if (wrapped->warning != NULL)
        bs_json_put_text(out, wrapped->warning);
    if (file->writable)
        put_writable(out, file->path);
    bs_json_close_array(out);
    bs_json_close_object(out);
}

/* Wrap the command before the file is made, because no file is needed if the command is refused or
 * runs without the wrapper. */
static int wrap(struct bs_sbpl_command *command, const struct place *place,
                struct bs_sbpl_file *file, struct bs_sbpl_wrapped *wrapped, struct bs_error *err) {
    command->file = place->file != NULL ? place->file : "/";
    int code = bs_sbpl_wrap(command, wrapped, err);
    if (code != BS_OK || !wrapped->active || place->file != NULL)
        return code;
    bs_sbpl_wrapped_clear(wrapped);
    code = bs_sbpl_file_make(place->dir, place->text, place->text_len, file, err);
    if (code != BS_OK)
        return code;
    command->file = file->path;
    return bs_sbpl_wrap(command, wrapped, err);
}

enum bs_answer bs_op_sbpl_wrap(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id",      "op",       "argv", "argv_b64",       "provider",
                                        "file",    "file_b64", "text", "text_b64",       "dir",
                                        "dir_b64", "wrapper",  "hold", "allow_fallback", NULL};
    struct bs_decoder decoder = {0};
    struct bs_sbpl_command command = {NULL, NULL, BS_PROVIDER_NONE, false, BS_WRAPPER_LOOK};
    struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct place place;
    enum bs_answer answer = BS_ANSWERED;
    size_t n = 0;
    bs_refuse_unknown(&decoder, call->request, "", known);
    command.argv = bs_decode_strings(&decoder, call->request, "", "argv", &n);
    if (command.argv == NULL && !bs_decoder_failed(&decoder))
        bs_problem(&decoder, "/argv", "`argv` (or `argv_b64`) is missing");
    command.provider = bs_decode_provider(&decoder, call->request);
    command.allow_fallback = bs_decode_bool(&decoder, call->request, "", "allow_fallback");
    command.wrapper = decode_wrapper(&decoder, call->request);
    decode_place(&decoder, call->request, &place);
    decode_hold(&decoder, call);
    bs_refuse_nul(&decoder);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    int code = wrap(&command, &place, call->file, &wrapped, &err);
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, err.message);
        goto finish;
    }
    bs_answer_open(out, call->id, "result");
    put_wrapped(out, &wrapped, call->file);
    bs_answer_close(out);
finish:
    bs_sbpl_wrapped_clear(&wrapped);
    bs_decoder_clear(&decoder);
    return answer;
}
