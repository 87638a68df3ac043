#include "shim/inside.h"

#include <stdlib.h>

#include "shim/backend_answer.h"
#include "shim/backend_request.h"

struct bs_inside {
    struct bs_wanted_sandbox wanted;
    struct bs_lazy_session *session;
};

struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request,
                                   bool makes_root) {
    const cJSON *backend = cJSON_GetObjectItemCaseSensitive(request, "backend");
    if (backend == NULL)
        return NULL;
    struct bs_inside *inside = calloc(1, sizeof *inside);
    if (inside == NULL) {
        decoder->out_of_memory = true;
        return NULL;
    }
    if (makes_root)
        bs_decode_use_without_root(decoder, backend, &inside->wanted);
    else
        bs_decode_use(decoder, backend, &inside->wanted);
    return inside;
}

int bs_inside_open(struct bs_inside *inside, struct bs_error *err) {
    if (inside == NULL)
        return BS_OK;
    const struct bs_wanted_sandbox *wanted = &inside->wanted;
    return bs_lazy_session_open(wanted->backend, &wanted->context, wanted->on_unavailable, NULL,
                                &inside->session, err);
}

int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err) {
    if (inside == NULL)
        return BS_OK;
    const struct bs_session *session = bs_lazy_session_opened(inside->session);
    int code = bs_context_check_dir(&inside->wanted.context, request->current_dir, err);
    if (code == BS_OK && request->current_dir == NULL && session != NULL)
        request->current_dir = bs_session_cwd(session);
    return code;
}

int bs_inside_run(const struct bs_inside *inside, const struct bs_exec_request *request,
                  struct bs_exec_result *result, struct bs_error *err) {
    if (inside == NULL)
        return bs_exec_run(request, result, err);
    return bs_session_run(bs_lazy_session_opened(inside->session), request, result, err);
}

const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside) {
    return inside != NULL ? bs_lazy_session_sandbox(inside->session) : NULL;
}

void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out) {
    const struct bs_session *session =
        inside != NULL ? bs_lazy_session_opened(inside->session) : NULL;
    if (session != NULL)
        bs_put_enforcement(out, bs_session_enforcement(session), &inside->wanted.context,
                           bs_lazy_session_report(inside->session));
}

void bs_inside_close(struct bs_inside *inside) {
    if (inside == NULL)
        return;
    (void)bs_lazy_session_close(inside->session, NULL);
    free(inside);
}
