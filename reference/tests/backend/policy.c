/* Tests that the policy of a context is compiled only once for a session. */
#define _GNU_SOURCE
#include <boxspec/backend.h>
#include <boxspec/profile.h>

#include <string.h>

#include "backend/inside.h"

#define POLICY                                                                                     \
    "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"n\"},"                      \
    "\"spec\":{\"denyModify\":[\"locked\"]}}"

static const struct bs_backend_policy policy = {
    .global = {.data = POLICY, .len = sizeof POLICY - 1, .format = BS_POLICY_JSON}};

static unsigned compiled;

int __real_bs_profile_compile(const struct bs_policy *given, const char *name, unsigned flags,
                              struct bs_profile **out, struct bs_error *err);
int __wrap_bs_profile_compile(const struct bs_policy *given, const char *name, unsigned flags,
                              struct bs_profile **out, struct bs_error *err);

int __wrap_bs_profile_compile(const struct bs_policy *given, const char *name, unsigned flags,
                              struct bs_profile **out, struct bs_error *err) {
    compiled++;
    return __real_bs_profile_compile(given, name, flags, out, err);
}

static void a_session_compiles_its_policy_once(void **state) {
    struct inside *inside = *state;
    inside->context.policy = &policy;
    compiled = 0;
    open_session(inside);
    assert_int_equal(compiled, 1);
    assert_int_equal(bs_session_scan(inside->session, &inside->report, NULL), BS_OK);
    assert_int_equal(compiled, 1);
}

static void a_probe_compiles_its_policy_once(void **state) {
    struct inside *inside = *state;
    inside->context.policy = &policy;
    compiled = 0;
    assert_int_equal(bs_backend_probe(bs_backend_find(backend_name), &inside->context, -1,
                                      &inside->report, NULL),
                     BS_OK);
    assert_int_equal(compiled, 1);
}

static void a_backend_refuses_a_policy_that_is_not_compiled(void **state) {
    struct inside *inside = *state;
    const struct bs_backend *backend = bs_backend_find(backend_name);
    struct bs_error err = BS_ERROR_INIT;
    void *made = NULL;
    inside->context.policy = &policy;
    assert_int_equal(backend->probe(backend->ctx, &inside->context, -1, &inside->report, &err),
                     BS_E_INVALID);
    assert_non_null(strstr(err.message, "is not compiled"));
    assert_int_equal(
        backend->prepare(backend->ctx, &inside->context, -1, &made, &inside->report, &err),
        BS_E_INVALID);
    assert_int_equal(backend->shutdown(backend->ctx, made, &err), BS_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        INSIDE(a_session_compiles_its_policy_once),
        INSIDE(a_probe_compiles_its_policy_once),
        INSIDE(a_backend_refuses_a_policy_that_is_not_compiled),
    };
    return run_in_each_backend(tests, sizeof tests / sizeof *tests);
}
