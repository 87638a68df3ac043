/* Tests the sandbox of a request: decoding it, opening its session, and its part of the answer. */
#define _GNU_SOURCE
#include "shim/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/backend.h>

#include "backend/session/report.h"
#include "shim/backend_answer.h"
#include "support/folder.h"
#include "support/harness.h"

struct fixture {
    struct folder *folder;
    struct bs_decoder decoder;
    cJSON *request;
    struct bs_inside *inside;
};

static int prepare(void **state) {
    static struct fixture fixture;
    fixture = (struct fixture){.request = NULL};
    *state = &fixture;
    return folder_setup((void **)&fixture.folder);
}

static int clear(void **state) {
    struct fixture *fixture = *state;
    bs_inside_close(fixture->inside);
    bs_decoder_clear(&fixture->decoder);
    cJSON_Delete(fixture->request);
    return folder_teardown((void **)&fixture->folder);
}

/* Decode a request. It is written with ' in place of ", and with ROOT in place of the directory of
 * the test. */
static void decode_request(struct fixture *fixture, const char *words, bool own_root) {
    char text[1024];
    const char *root = strstr(words, "ROOT");
    int before = root != NULL ? (int)(root - words) : (int)strlen(words);
    (void)snprintf(text, sizeof text, "%.*s%s%s", before, words,
                   root != NULL ? fixture->folder->path : "", root != NULL ? root + 4 : "");
    for (char *at = text; (at = strchr(at, '\'')) != NULL;)
        *at = '"';
    fixture->request = cJSON_Parse(text);
    assert_non_null(fixture->request);
    fixture->inside = bs_inside_decode(&fixture->decoder, fixture->request, own_root);
}

#define NONE "{'backend':{'name':'none','on_unavailable':'degrade','context':"

static void assert_put(const struct bs_inside *inside, const char *words) {
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_json_open_object(&out);
    bs_json_put_key(&out, "a");
    bs_json_put_u64(&out, 1);
    bs_inside_put(inside, &out);
    bs_json_close_object(&out);
    bs_buf_char(&out.text, '\0');
    assert_false(out.text.failed);
    cJSON *object = cJSON_Parse(out.text.data);
    assert_true(cJSON_IsObject(object));
    assert_int_equal(cJSON_GetArraySize(object), words == NULL ? 1 : 3);
    cJSON_Delete(object);
    if (words != NULL && strstr(out.text.data, words) == NULL)
        fail_msg("no %s in `%s`", words, out.text.data);
    bs_json_writer_clear(&out);
}

static void without_the_member_no_sandbox_is_used(void **state) {
    struct fixture *fixture = *state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    decode_request(fixture, "{'op':'x'}", false);
    assert_null(fixture->inside);
    assert_false(bs_decoder_failed(&fixture->decoder));
    assert_int_equal(bs_inside_open(NULL, NULL), BS_OK);
    assert_int_equal(bs_inside_place(NULL, &request, NULL), BS_OK);
    assert_null(request.current_dir);
    assert_null(bs_inside_sandbox(NULL));
    assert_put(NULL, NULL);
    bs_inside_close(NULL);
}

static bool has_problem_at(const struct bs_decoder *decoder, const char *place) {
    struct bs_json_writer list = BS_JSON_WRITER_INIT;
    bs_decoder_put_problems(decoder, &list);
    bs_buf_char(&list.text, '\0');
    bool has = strstr(list.text.data, place) != NULL;
    bs_json_writer_clear(&list);
    return has;
}

static void a_wrong_member_is_a_problem_with_its_place(void **state) {
    struct fixture *fixture = *state;
    static const struct {
        const char *words;
        bool own_root;
        const char *place;
    } rows[] = {
        {"{'backend':1}", false, "/backend"},
        {"{'backend':1}", true, "/backend"},
        {NONE "{'profile':'repo-write'}}}", false, "/backend/context/root"},
        {NONE "{'profile':'repo-write','root':'/'}}}", true, "/backend/context/root"},
        {NONE "{'profile':'repo-write','cwd':'/'}}}", true, "/backend/context/cwd"},
        {NONE "1}}", true, "/backend/context"},
        {"{'backend':{'name':'no such','context':{'profile':'repo-write'}}}", true,
         "/backend/name"},
        {"{'backend':{'name':'none','on_unavailable':1,'context':{'profile':'full-dev'}}}", true,
         "/backend/on_unavailable"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        decode_request(fixture, rows[i].words, rows[i].own_root);
        /* decoding has failed, but the caller must close the result nevertheless */
        assert_non_null(fixture->inside);
        assert_true(bs_decoder_failed(&fixture->decoder));
        if (!has_problem_at(&fixture->decoder, rows[i].place))
            fail_msg("no problem at %s", rows[i].place);
        bs_inside_close(fixture->inside);
        bs_decoder_clear(&fixture->decoder);
        cJSON_Delete(fixture->request);
        fixture->decoder = (struct bs_decoder){0};
        fixture->request = NULL;
        fixture->inside = NULL;
    }
}

static void after_the_opening_a_request_starts_in_the_workspace(void **state) {
    struct fixture *fixture = *state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    decode_request(fixture, NONE "{'profile':'repo-write','root':'ROOT'}}}", false);
    assert_false(bs_decoder_failed(&fixture->decoder));
    assert_int_equal(bs_inside_place(fixture->inside, &request, NULL), BS_OK);
    assert_null(request.current_dir);
    assert_put(fixture->inside, NULL);
    assert_int_equal(bs_inside_open(fixture->inside, NULL), BS_OK);
    assert_int_equal(bs_inside_place(fixture->inside, &request, NULL), BS_OK);
    assert_string_equal(request.current_dir, fixture->folder->path);
    assert_non_null(bs_inside_sandbox(fixture->inside));
}

static void a_requests_own_directory_must_be_in_the_session(void **state) {
    struct fixture *fixture = *state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_error err = BS_ERROR_INIT;
    decode_request(fixture, NONE "{'profile':'repo-write','root':'ROOT'}}}", false);
    request.current_dir = "/";
    assert_int_equal(bs_inside_place(fixture->inside, &request, &err), BS_E_INVALID);
    assert_true(err.message[0] != '\0');
    request.current_dir = fixture->folder->path;
    assert_int_equal(bs_inside_place(fixture->inside, &request, NULL), BS_OK);
    assert_string_equal(request.current_dir, fixture->folder->path);
}

static void the_enforcement_is_reported_with_its_reason(void **state) {
    struct fixture *fixture = *state;
    decode_request(fixture, NONE "{'profile':'repo-write','root':'ROOT'}}}", false);
    assert_int_equal(bs_inside_open(fixture->inside, NULL), BS_OK);
    assert_put(fixture->inside, "\"enforcement\":\"none\"");
    assert_put(fixture->inside, "the backend `none` confines nothing");
}

static void assert_reasons(const struct bs_backend_report *report, const char *expected) {
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_put_reasons(&out, &context, report);
    bs_buf_char(&out.text, '\0');
    assert_false(out.text.failed);
    assert_string_equal(out.text.data, expected);
    bs_json_writer_clear(&out);
}

/* If a rule is not enforced only because of the content of the workspace, it does not change the
 * claims. */
static void an_unenforced_rule_is_a_reason(void **state) {
    (void)state;
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    assert_true(bs_report_claim(&report, BS_ASPECT_FS_WRITE, BS_CLAIM_FULLY));
    assert_reasons(&report, "[]");
    assert_true(bs_report_unenforced(&report, "!a\"b", "it does not exist"));
    assert_reasons(&report, "[\"`!a\\\"b`: it does not exist\"]");
    assert_true(bs_report_warn(&report, "a warning"));
    assert_true(bs_report_reason(&report, BS_ASPECT_PROCESS, BS_CLAIM_PARTIAL, "a reason"));
    assert_reasons(&report, "[\"a reason\",\"`!a\\\"b`: it does not exist\"]");
    bs_backend_report_clear(&report);
}

static void a_refused_sandbox_is_not_opened(void **state) {
    struct fixture *fixture = *state;
    struct bs_error err = BS_ERROR_INIT;
    decode_request(fixture,
                   "{'backend':{'name':'none','context':{'profile':'repo-write','root':'ROOT'}}}",
                   false);
    assert_int_equal(bs_inside_open(fixture->inside, &err), BS_E_DENIED);
    assert_non_null(strstr(err.message, "refused by the sandbox: none"));
    assert_put(fixture->inside, NULL);
}

/* The operation makes the directory itself, so its first request opens the session. */
static void with_its_own_root_the_first_request_opens_the_session(void **state) {
    struct fixture *fixture = *state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    decode_request(fixture, NONE "{'profile':'repo-write'}}}", true);
    assert_false(bs_decoder_failed(&fixture->decoder));
    assert_int_equal(bs_inside_open(fixture->inside, NULL), BS_OK);
    assert_int_equal(bs_inside_place(fixture->inside, &request, NULL), BS_OK);
    assert_null(request.current_dir);
    assert_put(fixture->inside, NULL);
    const struct bs_sandbox *sandbox = bs_inside_sandbox(fixture->inside);
    request.program = "prog";
    request.current_dir = fixture->folder->path;
    assert_int_equal(sandbox->validate(sandbox->ctx, &request, NULL), BS_OK);
    assert_put(fixture->inside, "\"enforcement\":\"none\"");
}

#define ASKING(test) cmocka_unit_test_setup_teardown(test, prepare, clear)

int main(void) {
    const struct CMUnitTest tests[] = {
        ASKING(without_the_member_no_sandbox_is_used),
        ASKING(a_wrong_member_is_a_problem_with_its_place),
        ASKING(after_the_opening_a_request_starts_in_the_workspace),
        ASKING(a_requests_own_directory_must_be_in_the_session),
        ASKING(the_enforcement_is_reported_with_its_reason),
        ASKING(a_refused_sandbox_is_not_opened),
        cmocka_unit_test(an_unenforced_rule_is_a_reason),
        ASKING(with_its_own_root_the_first_request_opens_the_session),
    };
    return cmocka_run_group_tests_name("shim/inside", tests, NULL, NULL);
}
