/* Makes each allocation of a request fail once. The answer must be the same as without a failure,
 * an error of the kind `execution`, or missing. A request that was decoded only in part must not be
 * executed. Only calls from the project's own objects reach the wrappers. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "shim/ops.h"
#include "shim/policies.h"
#include "support/allocations.h"
#include "support/harness.h"

#define POLICY                                                                                     \
    "'policy':{'format':'json','text':'{\\'schemaVersion\\':2,\\'kind\\':\\'Policy\\',"            \
    "\\'metadata\\':{\\'name\\':\\'p\\'},\\'spec\\':{\\'denyRead\\':[\\'a/**\\',\\'*.key\\']}}'}"

static const char *const requests[] = {
    "{'id':'1','op':'hello','protocol':1,'nonce':'n'}",
    "{'id':'1','op':'hello','protocol':2,'nonce':7}",
    "{'id':'1','op':'exec.run','request':{},'sandbox':{'refuse':1}}",
    "{'id':'1','op':'exec.run','request':{'program':1,'args':[2],'shell':true,'env':7}}",
    "{'id':'1','op':'exec.run','request':{'program':'no/such'},'sandbox':{'refuse':'no'}}",
    "{'id':'1','op':'exec.batch','runs':[{'request':{'program':'x','timeout_ms':-1}},{}]}",
    "{'id':'1','op':'exec.batch','runs':7}",
    "{'id':'1','op':'exec.format_env','env':{'clear_and_set_b64':[['QQ==','Qg==']]}}",
    "{'id':'1','op':'exec.format_env','env':{'clear_and_set_b64':[['QQ==','Q']]}}",
    "{'id':'1','op':'path.normalize','paths':['./a//b','../x','\\u0000']}",
    "{'id':'1','op':'path.normalize','paths':7,'a':1,'b':2,'c':3,'d':4,'e':5,'f':6,'g':7}",
    "{'id':'1','op':'glob.match','pattern':'**/*.c','paths_b64':['YS5j','/w=='],'case':'fold'}",
    "{'id':'1','op':'glob.match','pattern':7}",
    "{'id':'1','op':'policy.load','format':'yaml','text':'schemaVersion: 1\\n'}",
    "{'id':'1','op':'policy.load','format':'xml','text':'x'}",
    "{'id':'1','op':'policy.resolve'," POLICY "}",
    "{'id':'1','op':'policy.resolve'," POLICY ",'profile':'nobody'}",
    "{'id':'1','op':'policy.check'," POLICY ",'checks':[{'op':'read','path':'a/x'}]}",
    "{'id':'1','op':'policy.check'," POLICY ",'checks':[{'op':'read','path':'b'},{'path':'b'}]}",
    "{'id':'1','op':'policy.check'," POLICY ",'checks':[{'op':'read','path':'b','profile':7}]}",
    "{'id':'1','op':'policy.explain'," POLICY ",'checks':[{'op':'modify','path':'x.key'}]}",
    "{'id':'1','op':'sbpl.compile','rules':{'modify':['src/**']},'root':'/w','env':{'HOME':'/h'}}",
    "{'id':'1','op':'sbpl.compile','rules':{'modify':[7]},'root':'w','env':[]}",
    "{'id':'1','op':'sbpl.wrap','argv':['x','y'],'file':'/f','wrapper':'present'}",
    "{'id':'1','op':'sbpl.wrap','argv':['x'],'wrapper':'there'}",
    /* The next request has numbers and NULs. The reader stores these as text, in addition to the
     * tree. */
    ("{'id':'1','op':'module.execute','module_id':'m','enabled':false,"
     "'input':[1.5,12345678901234567890,-0.1e-7,'a\\u0000b',{'\\u0000':[]}]}"),
    "{'id':'1','op':'no.such'}",
    "not JSON",
};

static char *request_of(const char *words) {
    char *request = strdup(words);
    assert_non_null(request);
    for (char *at = request; (at = strchr(at, '\'')) != NULL;)
        *at = '"';
    return request;
}

/* Return the answer with a NUL at its end. NULL if there is no answer. */
static char *answer_to(const char *request) {
    struct bs_policies policies = {.n_compiled = 0};
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    struct bs_done done = bs_dispatch(request, strlen(request), BS_MODE_RUN, &policies, &out);
    bs_policies_clear(&policies);
    bs_sbpl_file_remove(&done.file);
    free(done.hold);
    allocations.fail_at = 0;
    if (!out.text.failed)
        bs_buf_char(&out.text, '\0');
    else
        bs_json_writer_clear(&out);
    return out.text.data;
}

/* True if the answer is an error of the whole request or of one item in it. */
static bool is_execution_error(const char *answer, const char *expected) {
    static const char allowed[] = "\"allowed\":true";
    struct bs_json_error where;
    cJSON *tree = bs_json_parse(answer, strlen(answer), &where);
    bool is = bs_is_word(cJSON_GetObjectItemCaseSensitive(tree, "id"), "1") &&
              strstr(answer, "\"kind\":\"execution\"") != NULL &&
              (strstr(answer, allowed) == NULL || strstr(expected, allowed) != NULL);
    cJSON_Delete(tree);
    return is;
}

static void sweep(const char *words) {
    char *request = request_of(words);
    char *expected = answer_to(request);
    assert_non_null(expected);
    int live_before = allocations.live;
    bool reached = true;
    for (unsigned n = 1; n < 2000 && reached; n++) {
        allocations.count = 0;
        allocations.fail_at = n;
        char *answer = answer_to(request);
        reached = allocations.count >= n;
        if (answer != NULL && strcmp(answer, expected) != 0 &&
            !is_execution_error(answer, expected))
            fail_msg("%s: allocation %u: %s", words, n, answer);
        free(answer);
        assert_int_equal(allocations.live, live_before);
    }
    assert_false(reached);
    free(expected);
    free(request);
}

static void each_allocation_of_each_request_fails(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(requests); i++)
        sweep(requests[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_each_request_fails),
    };
    return cmocka_run_group_tests_name("shim: out of memory", tests, NULL, NULL);
}
