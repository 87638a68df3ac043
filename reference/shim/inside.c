#include "shim/inside.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

#ifdef BOXSPEC_BACKENDS
#include "shim/backend_answer.h"
#include "shim/backend_request.h"

struct bs_inside {
    struct bs_asked_backend asked;
    struct bs_late_session *late; /* with a root of its own, else: */
    struct bs_session *session;
    struct bs_sandbox sandbox;
    struct bs_backend_report report;
    bool own_root;
};

struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request,
                                   bool own_root) {
    const cJSON *backend = cJSON_GetObjectItemCaseSensitive(request, "backend");
    if (backend == NULL)
        return NULL;
    struct bs_inside *inside = calloc(1, sizeof *inside);
    if (inside == NULL) {
        decoder->out_of_memory = true;
        return NULL;
    }
    inside->own_root = own_root;
    inside->report = (struct bs_backend_report)BS_BACKEND_REPORT_INIT;
    if (own_root)
        bs_decode_use_without_root(decoder, backend, &inside->asked);
    else
        bs_decode_use(decoder, backend, &inside->asked);
    return inside;
}

int bs_inside_open(struct bs_inside *inside, struct bs_error *err) {
    if (inside == NULL)
        return BS_OK;
    const struct bs_asked_backend *asked = &inside->asked;
    if (inside->own_root)
        return bs_late_session_make(asked->backend, &asked->context, asked->on_unavailable,
                                    &inside->late, err);
    int code = bs_session_open(asked->backend, &asked->context, asked->on_unavailable, NULL,
                               &inside->session, &inside->report, err);
    if (code == BS_OK)
        inside->sandbox = bs_session_sandbox(inside->session);
    return code;
}

int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err) {
    if (inside == NULL)
        return BS_OK;
    int code = bs_context_check_dir(&inside->asked.context, request->current_dir, err);
    if (code == BS_OK && request->current_dir == NULL && inside->session != NULL)
        request->current_dir = bs_session_cwd(inside->session);
    return code;
}

const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside) {
    if (inside == NULL)
        return NULL;
    return inside->own_root ? bs_late_session_sandbox(inside->late) : &inside->sandbox;
}

void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out) {
    if (inside == NULL)
        return;
    const struct bs_session *session =
        inside->own_root ? bs_late_session_opened(inside->late) : inside->session;
    const struct bs_backend_report *report =
        inside->own_root ? bs_late_session_report(inside->late) : &inside->report;
    if (session != NULL) /* no program was to be started otherwise */
        bs_put_enforcement(out, bs_session_enforcement(session), &inside->asked.context, report);
}

void bs_inside_close(struct bs_inside *inside) {
    if (inside == NULL)
        return;
    (void)bs_late_session_close(inside->late, NULL);
    (void)bs_session_close(inside->session, NULL);
    bs_backend_report_clear(&inside->report);
    free(inside);
}
#else
struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request,
                                   bool own_root) {
    (void)own_root;
    if (cJSON_GetObjectItemCaseSensitive(request, "backend") != NULL)
        bs_problem(decoder, "/backend", "this build has no backends; leave it out");
    return NULL;
}

int bs_inside_open(struct bs_inside *inside, struct bs_error *err) {
    (void)inside;
    (void)err;
    return BS_OK;
}

int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err) {
    (void)inside;
    (void)request;
    (void)err;
    return BS_OK;
}

const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside) {
    (void)inside;
    return NULL;
}

void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out) {
    (void)inside;
    (void)out;
}

void bs_inside_close(struct bs_inside *inside) { (void)inside; }
#endif
