#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "shim/answers.h"

#define POLICY                                                                                     \
    "'policy':{'text':'{\\'schemaVersion\\':2,\\'kind\\':\\'Policy\\',"                            \
    "\\'metadata\\':{\\'name\\':\\'t\\'},\\'spec\\':{\\'denyModify\\':[\\'a/**\\',\\'!a/b\\'],"    \
    "\\'fsProfiles\\':{\\'p\\':{\\'read\\':[\\'./**\\'],\\'modify\\':[\\'./!x\\']}}}}',"           \
    "'format':'json'}"

static void paths_are_normalised(void **state) {
    assert_answer(state, "{'id':'1','op':'path.normalize','paths':['./a//b/','.','a\\u0000']}",
                  "{'id':'1','result':{'items':[{'path':'a/b'},{'path':'.'},"
                  "{'error':{'kind':'invalid_input','message':'the path holds a NUL'}}]}}\n");
    HAS("{'id':'1','op':'path.normalize','paths_b64':['YS8v','/w==']}", "[{'path':'a'},{'error'",
        "UTF-8");
}

static void globs_are_matched(void **state) {
    assert_answer(state, "{'id':'1','op':'glob.match','pattern':'a/**','paths':['a','b','A/x']}",
                  "{'id':'1','result':{'items':[{'match':true},{'match':false},"
                  "{'match':false}]}}\n");
    HAS("{'id':'1','op':'glob.match','pattern_b64':'YQ==','paths':['A'],'case':'fold'}",
        "[{'match':true}]");
    HAS("{'id':'1','op':'glob.match','pattern':'/a','paths':['a']}", "'kind':'invalid_input'",
        "'pointer':'/pattern'");
}

static void every_check_has_an_answer(void **state) {
    assert_answer(state,
                  "{'id':'1','op':'policy.check'," POLICY ",'checks':["
                  "{'op':'read','path':'x/'},{'profile':'p','op':'modify','path_b64':'IXg='},"
                  "{'op':'modify','path':'a/c'},{'op':'modify','path':'a/b','profile':'p'}]}",
                  "{'id':'1','result':{'checks':["
                  "{'allowed':true,'path':'x','matched_rule':'**'},"
                  "{'allowed':true,'path':'!x','matched_rule':'./!x'},"
                  "{'allowed':false,'path':'a/c','matched_rule':'a/**'},"
                  "{'allowed':false,'path':'a/b','matched_rule':'<no matching rule>'}]}}\n");
}

static void a_wrong_check_does_not_affect_the_others(void **state) {
    HAS("{'id':'1','op':'policy.check'," POLICY ",'checks':[{'op':'read','path':'/a'},"
        "{'op':'read','path':'a','profile':'q'},{'op':'read','path':'a','profile':'p\\u0000'},"
        "{'op':'read','path':'a\\u0000b'},{'op':'read','path':'a'}]}",
        "[{'error':{'kind':'invalid_input'", "unknown profile `q`", "unknown profile ``",
        "holds a NUL", "{'allowed':true,'path':'a','matched_rule':'**'}]");
}

static void the_resolved_lists_mark_denies_and_exceptions(void **state) {
    assert_answer(state, "{'id':'1','op':'policy.resolve'," POLICY ",'profile':'p'}",
                  "{'id':'1','result':{'profile':'p','profile_origin':'defined','read':['**'],"
                  "'modify':['./!x','!a/**',{'except':'a/b'}]}}\n");
    HAS("{'id':'1','op':'policy.resolve'," POLICY "}",
        "'profile':'unrestricted','profile_origin':'synthesized'");
    HAS("{'id':'1','op':'policy.resolve'," POLICY ",'profile':'q'}", "'kind':'invalid_input'",
        "'pointer':'/profile'");
    HAS("{'id':'1','op':'policy.resolve'," POLICY ",'profile':'p\\u0000'}", "NUL");
}

static void problems_of_a_file_have_their_places(void **state) {
    static const char *const requests[] = {
        "{'id':'1','op':'policy.load','text':'{\\'kind\\':1}\\n','format':'json'}",
        "{'id':'1','op':'policy.check','policy':{'text':'{\\'kind\\':1}\\n','format':'json'},"
        "'checks':[]}"};
    for (size_t i = 0; i < LENGTH(requests); i++)
        HAS(requests[i], "'error':{'kind':'invalid_input'",
            "{'pointer':'','line':1,'column':1,'file':'global'",
            "{'pointer':'/kind','line':1,'column':9,'file':'global'");
}

static void a_policy_has_its_name_and_warnings(void **state) {
    HAS("{'id':'1','op':'policy.load','text_b64':'c2NoZW1hVmVyc2lvbjogMgpraW5kOiBQb2xpY3kKbWV0YWRhd"
        "GE6IHtuYW1lOiBufQpzcGVjOgogIGRlc2NyaXB0aW9uOiBkCiAgZGVueVJlYWQ6IFtrXQo=','format':'yaml'}",
        "'result':{'name':'n','description':'d','warnings':[{'pointer':'/spec/denyRead/0',"
        "'code':'read-deny-without-modify-deny','line':6,'column':14,'file':'global'");
}

static void problems_of_a_request_are_named(void **state) {
    HAS("{'id':'1','op':'policy.check','checks':[]}", "'pointer':'/policy'");
    HAS("{'id':'1','op':'policy.check'," POLICY "}", "'pointer':'/checks'");
    HAS("{'id':'1','op':'policy.check','zz':1," POLICY ",'checks':[1,{},{'op':'x','path':1,"
        "'path_b64':'','y':1},{'op':'read','path':12345678901234567890}]}",
        "'pointer':'/zz','message':'unknown field `zz`'", "'pointer':'/checks/0'",
        "'pointer':'/checks/1/op'", "'pointer':'/checks/1/path'", "'pointer':'/checks/2/op'",
        "'pointer':'/checks/2/path'", "'pointer':'/checks/2/path_b64'", "'pointer':'/checks/2/y'",
        "'pointer':'/checks/3/path','message':'must be a string'");
    HAS("{'id':'1','op':'policy.check','policy':{'text':'','text_b64':'','format':1,'x':1,"
        "'workspace':{'y':1}},'checks':[],'case':'f'}",
        "'pointer':'/policy/text_b64'", "'pointer':'/policy/format'", "'pointer':'/policy/x'",
        "'pointer':'/policy/workspace/y'", "'pointer':'/policy/workspace/text'",
        "'pointer':'/policy/workspace/format'", "'pointer':'/case'");
    HAS("{'id':'1','op':'policy.check_resolved'," POLICY ",'root':'a','checks':["
        "{'op':'read','path':'a','follow':'x'}]}",
        "'pointer':'/root'", "'pointer':'/checks/0/follow'");
    HAS("{'id':'1','op':'policy.check'," POLICY ",'checks':[{'op':'read','path':'a',"
        "'follow':'final'}]}",
        "unknown field `follow`");
    HAS("{'id':'1','op':'path.normalize','paths':['a',1],'paths_b64':[]}", "not both");
    HAS("{'id':'1','op':'path.normalize','paths':['a',1]}", "'pointer':'/paths/1'");
}

static void places_and_events_are_answered(void **state) {
    HAS("{'id':'1','op':'policy.check_resolved'," POLICY ",'root_b64':'Lw==','checks':["
        "{'op':'read','path':'/','follow':'parent'},{'op':'read','path':'no such thing'}]}",
        "{'allowed':true,'path':'.','matched_rule':'**','real':'.'}", "'real':'no such thing'}");
    HAS("{'id':'1','op':'policy.audit'," POLICY ",'checks':[{'op':'read','path':'a'}]}",
        "{'events':[{'time':'20", "'profile_origin':'synthesized','op':'read','path':'a'");
    HAS("{'id':'1','op':'policy.explain'," POLICY ",'checks':[{'op':'modify','path':'a/b',"
        "'profile':'p'},{'op':'read','path':'a'}]}",
        "{'rule':{'except':'a/b'},'origin':'exception','file':'global','line':1,'matched':true,"
        "'deciding':false}",
        "{'rule':'**','origin':'profile','file':null,'line':null,'matched':true,"
        "'deciding':true}");
}

static void names_are_returned_unchanged(void **state) {
    assert_answer(state, "{'id':'a\\u0000b','op':'x\\u0000'}",
                  "{'id':'a\\u0000b','unsupported':{'capability':'x\\u0000',"
                  "'why':'this shim does not know the operation'}}\n");
    HAS("{'id':12345678901234567890,'op':'bye'}", "{'id':null,'error'", "/id");
    HAS("{'id':'1','op':1.5}", "{'id':'1','error'", "/op");
}

static struct bs_texts texts_of(const char *text) {
    return (struct bs_texts){.global = {text, strlen(text), BS_POLICY_YAML}};
}

#define HEAD "schemaVersion: 2\nkind: Policy\nmetadata: {name: n}\nspec: "

static void the_same_text_is_compiled_once(void **state) {
    struct bs_policies *policies = *state;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_texts texts = texts_of(HEAD "{}");
    const struct bs_profile *profiles[3];
    assert_int_equal(bs_policies_load(policies, &texts, &report, NULL), BS_OK);
    const struct bs_policy *first = policies->policy;
    assert_int_equal(bs_policies_profile(policies, NULL, false, &profiles[0], NULL), BS_OK);
    assert_int_equal(bs_policies_profile(policies, "unrestricted", false, &profiles[1], NULL),
                     BS_OK);
    assert_int_equal(bs_policies_profile(policies, NULL, true, &profiles[2], NULL), BS_OK);
    assert_ptr_equal(profiles[0], profiles[1]);
    assert_ptr_not_equal(profiles[0], profiles[2]);
    assert_int_equal(bs_policies_load(policies, &texts, &report, NULL), BS_OK);
    assert_ptr_equal(policies->policy, first);
    /* If the next policy cannot be loaded, the current one is kept. */
    struct bs_texts bad = texts_of("x");
    assert_int_equal(bs_policies_load(policies, &bad, &report, NULL), BS_E_INVALID);
    assert_ptr_equal(policies->policy, first);
    bs_policy_report_clear(&report);
    struct bs_texts other = texts_of(HEAD "{denyRead: [a]}");
    assert_int_equal(bs_policies_load(policies, &other, &report, NULL), BS_OK);
    assert_int_equal(policies->n_compiled, 0);
    bs_policy_report_clear(&report);
    /* The same bytes in another format, or together with a workspace, count as another policy. */
    texts.has_workspace = true;
    texts.workspace = texts.global;
    assert_int_equal(bs_policies_load(policies, &texts, &report, NULL), BS_OK);
    assert_true(policies->texts.has_workspace);
    bs_policy_report_clear(&report);
}

static void only_a_few_profiles_are_cached(void **state) {
    struct bs_policies *policies = *state;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_buf text = BS_BUF_INIT;
    bs_buf_str(&text, HEAD "{fsProfiles: {");
    for (int i = 0; i < 26; i++) {
        bs_buf_char(&text, (char)('a' + i));
        bs_buf_str(&text, ": {read: [], modify: []}, ");
    }
    bs_buf_str(&text, "}}");
    struct bs_texts texts = {.global = {text.data, text.len, BS_POLICY_YAML}};
    struct bs_error err = BS_ERROR_INIT;
    if (bs_policies_load(policies, &texts, &report, &err) != BS_OK)
        fail_msg("%s", err.message);
    for (unsigned i = 0; i < 100; i++) {
        const struct bs_profile *profile = NULL;
        char name[2] = {(char)('a' + i % 26), '\0'};
        assert_int_equal(bs_policies_profile(policies, name, false, &profile, NULL), BS_OK);
        assert_string_equal(bs_profile_name(profile), name);
        assert_true(policies->n_compiled <= BS_POLICIES_PROFILES);
    }
    bs_buf_clear(&text);
    bs_policy_report_clear(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        conversing(paths_are_normalised),
        conversing(globs_are_matched),
        conversing(every_check_has_an_answer),
        conversing(a_wrong_check_does_not_affect_the_others),
        conversing(the_resolved_lists_mark_denies_and_exceptions),
        conversing(problems_of_a_file_have_their_places),
        conversing(a_policy_has_its_name_and_warnings),
        conversing(problems_of_a_request_are_named),
        conversing(places_and_events_are_answered),
        conversing(names_are_returned_unchanged),
        conversing(the_same_text_is_compiled_once),
        conversing(only_a_few_profiles_are_cached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
