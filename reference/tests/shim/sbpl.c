#define _GNU_SOURCE
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/answers.h"
#include "support/folder.h"

#define COMPILE "{'id':'1','op':'sbpl.compile',"
#define WRAP "{'id':'1','op':'sbpl.wrap',"
#define RULES "'rules':{'read':['**','!k/**'],'modify':['./**/*.c'],'denyRead':['**/z']},"
#define POLICY                                                                                     \
    "'policy':{'text':'{\\'schemaVersion\\':2,\\'kind\\':\\'Policy\\',\\'metadata\\':{"            \
    "\\'name\\':\\'t\\'},\\'spec\\':{\\'denyRead\\':[\\'**/z\\'],\\'fsProfiles\\':{\\'p\\':{"      \
    "\\'read\\':[\\'**\\',\\'!k/**\\'],\\'modify\\':[\\'**/*.c\\']}}}}','format':'json'},"

static void a_profile_comes_with_its_unguarded_rules(void **state) {
    HAS(COMPILE RULES "'root':'/w','env':{'HOME':'/h','CODEX_HOME':''},'provider':'codex',"
                      "'side_roots':['/s']}",
        "{'id':'1','result':{'text':'(version 1)\\n(deny default)\\n",
        "(allow file-write* (subpath \\'/h/.codex\\'))\\n",
        "(allow file-write* (regex \\'^/w/(.*/)?[^/]*\\\\\\\\.c$\\'))\\n",
        "(deny file-read* (subpath \\'/w/k\\'))\\n", "(allow file-write* (subpath \\'/s\\'))\\n",
        "'unguarded':['**/z']}}\n");
    HAS(COMPILE "'rules':{},'root_b64':'L3c=','env_b64':{'HOME':'L2g='},'side_roots_b64':[],"
                "'case':'fold'}",
        "(subpath \\'/h/.orbit\\')", "(deny file-write* (subpath \\'/w\\'))\\n','unguarded':[]}}");
    HAS(COMPILE "'rules':{'read':['a','!B']},'root':'/w','case':'fold'}",
        "(deny file-read* (regex \\'^/w/[bB]$\\'))");
}

static void rules_and_a_policy_give_the_same_profile(void **state) {
    char *of_rules = answer_to(*state, COMPILE RULES "'root':'/w'}");
    char *of_policy = answer_to(*state, COMPILE POLICY "'profile':'p','root':'/w'}");
    assert_string_equal(of_rules, of_policy);
    free(of_rules);
    free(of_policy);
    HAS(COMPILE POLICY "'root':'/w'}", "(allow file-write* (subpath \\'/w\\'))");
}

static void problems_of_rules_have_places_in_the_request(void **state) {
    HAS(COMPILE "'rules':{'read':['/a',1],'x':1,'denyRead':{}},'root':'/w'}",
        "'pointer':'/rules/read/1','message':'must be a string'", "'pointer':'/rules/x'",
        "'pointer':'/rules/denyRead'");
    HAS(COMPILE "'rules':{'read':['/a'],'modify':['b'],'denyModify':['c','!d']},'root':'/w'}",
        "'error':{'kind':'invalid_input'",
        "{'pointer':'/rules/read/0','message':", "'pointer':'/rules/modify/0'",
        "'pointer':'/rules/denyModify/1'");
    HAS(COMPILE "'rules':{'read':['a\\u0000']},'root':'/w'}", "'pointer':'/rules'", "NUL");
    HAS(COMPILE "'rules':[],'root':'/w'}", "'pointer':'/rules'");
    HAS(COMPILE "'rules':{'modify':['a']},'root':'/w'}", "'pointer':'/rules/modify/0'", "covers");
}

static void problems_of_a_request_are_named(void **state) {
    HAS(COMPILE RULES POLICY "'root':'/w'}", "'pointer':'/rules','message':'give `rules` or");
    HAS(COMPILE RULES "'profile':'p','root':'/w'}", "'pointer':'/profile'");
    HAS(COMPILE "'root':'/w'}", "'pointer':'/rules','message':'`rules` (or `policy`) is missing'");
    HAS(COMPILE RULES "'zz':1}", "'pointer':'/zz'", "'pointer':'/root'");
    HAS(COMPILE POLICY "'profile':'q','root':'/w'}", "'pointer':'/profile'", "`q`");
    HAS(COMPILE "'policy':{'text':'{}','format':'json'},'root':'/w'}", "'line':1");
    HAS(COMPILE RULES "'root':'/w','env':{'PATH':'/'}}", "'pointer':'/env/PATH'");
    HAS(COMPILE RULES "'root':'/w','env':[]}", "'pointer':'/env'");
    HAS(COMPILE RULES "'root':'/w','env':{'HOME':1}}", "'pointer':'/env/HOME'");
    HAS(COMPILE RULES "'root':'/w','env':{},'env_b64':{}}", "'pointer':'/env_b64'", "not both");
    HAS(COMPILE RULES "'root':'/w','provider':'aider'}", "'pointer':'/provider'");
    HAS(COMPILE RULES "'root':'/w','side_roots':'/s'}", "'pointer':'/side_roots'");
    HAS(COMPILE RULES "'root':'/w','side_roots':['/s',2]}", "'pointer':'/side_roots/1'");
    HAS(COMPILE RULES "'root':'/w\\u0000x'}", "'pointer':'/root','message':'holds a NUL byte'");
    HAS(COMPILE RULES "'root':'w'}", "'kind':'invalid_input','message':'root: `w` is not absolute");
    HAS(COMPILE RULES "'root_b64':'L/8='}", "not UTF-8");
}

static void a_command_is_wrapped(void **state) {
    assert_answer(state,
                  WRAP "'argv':['gemini','-s','-p','hi'],'provider':'gemini','file':'/p.sb',"
                       "'wrapper':'present'}",
                  "{'id':'1','result':{'argv':['/usr/bin/sandbox-exec','-f','/p.sb','gemini','-p',"
                  "'hi'],'wrapped':true,'warnings':[]}}\n");
    HAS(WRAP "'argv_b64':['eA==','/w=='],'file_b64':'L3A=','wrapper':'present'}",
        "'argv_b64':['L3Vzci9iaW4vc2FuZGJveC1leGVj','LWY=','L3A=','eA==','/w==']");
    HAS(WRAP "'argv':['x'],'file':'/p.sb','wrapper':'missing'}", "'kind':'execution'",
        "/usr/bin/sandbox-exec");
    HAS(WRAP "'argv':['x','-s'],'provider':'gemini','file':'/p.sb','wrapper':'missing',"
             "'allow_fallback':true}",
        "{'argv':['x','-s'],'wrapped':false,'warnings':['/usr/bin/sandbox-exec is missing");
}

static void problems_of_a_wrap_are_named(void **state) {
    HAS(WRAP "'file':'/p.sb','zz':1}", "'pointer':'/zz'");
    HAS(WRAP "'file':'/p.sb'}", "'pointer':'/argv','message':'`argv` (or");
    HAS(WRAP "'argv':'x','file':'/p.sb'}", "'pointer':'/argv','message':'must be an array");
    HAS(WRAP "'argv':['x']}", "'pointer':'/file'");
    HAS(WRAP "'argv':['x'],'text':'a'}", "'pointer':'/dir'");
    HAS(WRAP "'argv':['x'],'dir':'/'}", "'pointer':'/text'");
    HAS(WRAP "'argv':['x'],'dir':'/','text':'','file':'/p'}", "'pointer':'/file'", "not both");
    HAS(WRAP "'argv':['x'],'file':'/p','wrapper':'x'}", "'pointer':'/wrapper'");
    HAS(WRAP "'argv':['x'],'file':'/p','allow_fallback':1}", "'pointer':'/allow_fallback'");
    HAS(WRAP "'argv':['x'],'file':'/p','provider':1}", "'pointer':'/provider'");
    HAS(WRAP "'argv':['x'],'file':'/p','hold':'/f'}", "'pointer':'/hold'", "serve");
    HAS(WRAP "'argv':['x','a\\u0000'],'file':'/p'}", "'pointer':'/argv/1'", "NUL");
    HAS(WRAP "'argv':[],'file':'/p','wrapper':'present'}", "'kind':'invalid_input'", "no program");
    HAS(WRAP "'argv':['x'],'file':'p','wrapper':'present'}", "`p` is not absolute");
    HAS(WRAP "'argv':['x'],'text':'','dir':'/no/such','wrapper':'present'}", "'kind':'io'",
        "/no/such");
}

/* Send a request that makes a file. The mode of the shim decides when the file is removed. */
static struct bs_done wrap_in(struct bs_policies *policies, const char *dir, const char *more,
                              enum bs_shim_mode mode) {
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    char request[512];
    int len = snprintf(request, sizeof request,
                       "{\"id\":\"1\",\"op\":\"sbpl.wrap\",\"argv\":[\"x\"],\"text_b64\":\"AP8=\","
                       "\"dir\":\"%s\"%s}",
                       dir, more);
    struct bs_done done = bs_dispatch(request, (size_t)len, mode, policies, &out);
    assert_false(out.text.failed);
    if (done.file.path != NULL) {
        bs_buf_char(&out.text, '\0');
        assert_non_null(strstr(out.text.data, done.file.path));
    }
    bs_json_writer_clear(&out);
    return done;
}

static void a_file_is_made_for_the_entry_point_to_remove(void **state) {
    struct folder *folder = NULL;
    struct stat st;
    assert_int_equal(folder_setup((void **)&folder), 0);
    struct bs_done done = wrap_in(*state, folder->path, ",\"wrapper\":\"present\"", BS_MODE_SERVE);
    assert_non_null(done.file.path);
    assert_int_equal(stat(done.file.path, &st), 0);
    assert_int_equal(st.st_size, 2);
    bs_sbpl_file_remove(&done.file);
    done = wrap_in(*state, folder->path, ",\"wrapper\":\"present\",\"hold\":\"/f\"", BS_MODE_RUN);
    assert_non_null(done.file.path);
    assert_string_equal(done.hold, "/f");
    bs_sbpl_file_remove(&done.file);
    free(done.hold);
    /* No file may be made for a command that does not need one. rmdir would fail if the directory
     * were not empty. */
    static const char *const useless[] = {
        ",\"wrapper\":\"missing\"", ",\"wrapper\":\"missing\",\"allow_fallback\":true",
        ",\"wrapper\":\"present\",\"hold\":\"/f\"", ",\"wrapper\":\"present\",\"x\":1"};
    for (size_t i = 0; i < LENGTH(useless); i++) {
        done = wrap_in(*state, folder->path, useless[i], BS_MODE_SERVE);
        assert_null(done.file.path);
    }
    assert_int_equal(rmdir(folder->path), 0);
    assert_int_equal(mkdir(folder->path, 0700), 0);
    assert_int_equal(folder_teardown((void **)&folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        conversing(a_profile_comes_with_its_unguarded_rules),
        conversing(rules_and_a_policy_give_the_same_profile),
        conversing(problems_of_rules_have_places_in_the_request),
        conversing(problems_of_a_request_are_named),
        conversing(a_command_is_wrapped),
        conversing(problems_of_a_wrap_are_named),
        conversing(a_file_is_made_for_the_entry_point_to_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
