#define _GNU_SOURCE
#include "exec/redact.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/harness.h"

#define MARK "[REDACTED_ENV]"

static char *no_variables[] = {NULL};

static int without_variables(void **state) {
    (void)state;
    environ = no_variables;
    return 0;
}

static struct bs_secrets secrets_of(const char *const *values, size_t n) {
    struct bs_env_pair pairs[16];
    struct bs_secrets secrets;
    for (size_t i = 0; i < n; i++)
        pairs[i] = (struct bs_env_pair){"TOKEN", values[i]};
    assert_int_equal(bs_secrets_collect(&secrets, pairs, n), 0);
    return secrets;
}

/* Redact the whole text in a slow way, for comparison: find all matches of all secrets at all
 * positions, and join the matches that overlap. */
static struct bs_bytes oracle(const char *const *values, size_t n, const char *text, size_t len) {
    struct bs_buf out = BS_BUF_INIT;
    size_t at = 0;
    while (at < len) {
        size_t end = at;
        for (size_t from = at; from == at || from < end; from++) {
            for (size_t i = 0; i < n; i++) {
                size_t size = strlen(values[i]);
                if (size <= len - from && memcmp(text + from, values[i], size) == 0 &&
                    from + size > end)
                    end = from + size;
            }
        }
        if (end > at)
            bs_buf_str(&out, MARK);
        else
            bs_buf_char(&out, text[end++]);
        at = end;
    }
    bs_buf_add(&out, "", 0);
    return bs_buf_take(&out);
}

/* Redact the text in pieces that end at the given positions. */
static struct bs_bytes in_pieces(const struct bs_secrets *secrets, const char *text, size_t len,
                                 size_t first, size_t second) {
    struct bs_redactor redactor = BS_REDACTOR_INIT(secrets);
    struct bs_buf out = BS_BUF_INIT;
    bs_redact(&redactor, text, first, false, &out);
    bs_redact(&redactor, text + first, second - first, false, &out);
    bs_redact(&redactor, text + second, len - second, true, &out);
    assert_int_equal(redactor.held.len, 0);
    bs_redactor_clear(&redactor);
    bs_buf_add(&out, "", 0);
    return bs_buf_take(&out);
}

static void assert_same(struct bs_bytes got, const struct bs_bytes *expected, const char *text) {
    if (got.len != expected->len || (got.len > 0 && memcmp(got.data, expected->data, got.len) != 0))
        fail_msg("`%s` became `%s` instead of `%s`", text, got.len > 0 ? got.data : "",
                 expected->len > 0 ? expected->data : "");
    bs_bytes_clear(&got);
}

static void names_of_secrets_are_recognised_by_their_words(void **state) {
    (void)state;
    static const char *const sensitive[] = {
        "SECRET",       "TOKEN",      "PASSWORD",    "PASSWD",    "PASSCODE",    "API_KEY",
        "PRIVATE",      "CREDENTIAL", "COOKIE",      "BEARER",    "my_secret",   "MySecretThing",
        "GITHUB_TOKEN", "TOKENS",     "XTOKENX",     "db_passwd", "CREDENTIALS", "API_KEY_ID",
        "SSH_KEY",      "ssh_key",    "_KEY",        "X_KEY",     "AUTH",        "auth",
        "MY_AUTH",      "AUTH_URL",   "A_AUTH_B",    "SESSION",   "X_Session",   "SESSION_ID",
        "_AUTH_",       "PRIVATEER",  "Set_Cookie_2"};
    static const char *const harmless[] = {
        "",       "PATH",     "HOME",          "KEY",   "KEYS",      "MONKEY",     "KEY_PATH",
        "X_KEYS", "_KEY_",    "AUTHOR",        "OAUTH", "AUTHORITY", "GIT_AUTHOR", "XAUTHORITY",
        "AUTHX",  "SESSIONS", "XDG_SESSIONID", "TOKE",  "SECRE",     "PASS",       "PASSWO",
        "API",    "APIKEY",   "COOKI",         "BEAR"};
    for (size_t i = 0; i < LENGTH(sensitive); i++) {
        if (!bs_sensitive_name(sensitive[i]))
            fail_msg("%s is not taken for a secret", sensitive[i]);
    }
    for (size_t i = 0; i < LENGTH(harmless); i++) {
        if (bs_sensitive_name(harmless[i]))
            fail_msg("%s is taken for a secret", harmless[i]);
    }
}

static void secrets_come_from_the_process_and_from_the_pairs(void **state) {
    (void)state;
    char *mine[] = {(char[]){"A_TOKEN=from-process"},
                    (char[]){"PLAIN=harmless"},
                    (char[]){"SECRET_WITHOUT_VALUE"},
                    (char[]){"B_SECRET=abc"},
                    (char[]){"C_SECRET=  ab \t"},
                    (char[]){"D_SECRET= abcd "},
                    (char[]){"D_TOKEN=\xc3\xa4\xc3\xb6\xc3\xbc"},
                    (char[]){"D_PASSWORD=a\x80\x80\xff"},
                    NULL};
    static const struct bs_env_pair env[] = {
        {"E_COOKIE", "from=pairs"}, {"F", "harmless"}, {"G_KEY", ""}};
    struct bs_secrets secrets;
    environ = mine;
    int os_error = bs_secrets_collect(&secrets, env, LENGTH(env));
    environ = no_variables;
    assert_int_equal(os_error, 0);
    assert_int_equal(secrets.n, 4);
    assert_string_equal(secrets.list[0].value, "from-process");
    assert_string_equal(secrets.list[1].value, " abcd ");
    assert_string_equal(secrets.list[2].value, "a\x80\x80\xff");
    assert_string_equal(secrets.list[3].value, "from=pairs");
    bs_secrets_clear(&secrets);
    bs_secrets_clear(&secrets);
}

static void each_text_is_redacted_as_expected(void **state) {
    (void)state;
    static const char *const values[] = {"hunter2", "hunter22", "abcabc", "cabd", "xxxx"};
    static const struct {
        const char *text;
        const char *redacted;
    } rows[] = {{"", ""},
                {"nothing here", "nothing here"},
                {"hunter2", MARK},
                {"a hunter2 b", "a " MARK " b"},
                {"hunter22", MARK},
                {"hunter23", MARK "3"},
                {"hunter", "hunter"},
                {"hunter2hunter2", MARK MARK},
                {"hunter22hunter2", MARK MARK},
                {"abcabcabc", MARK},
                {"abcabcabd", MARK},
                {"abcabd", "ab" MARK},
                {"xxxxx", MARK},
                {"xxxxxxxxx", MARK},
                {"xxx xxxx", "xxx " MARK},
                {"\nhunter2\n", "\n" MARK "\n"},
                {"hunterhunter2", "hunter" MARK}};
    struct bs_secrets secrets = secrets_of(values, LENGTH(values));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t len = strlen(rows[i].text);
        struct bs_bytes expected = oracle(values, LENGTH(values), rows[i].text, len);
        assert_int_equal(expected.len, strlen(rows[i].redacted));
        assert_string_equal(expected.data, rows[i].redacted);
        assert_same(in_pieces(&secrets, rows[i].text, len, 0, len), &expected, rows[i].text);
        bs_bytes_clear(&expected);
    }
    bs_secrets_clear(&secrets);
}

static void every_split_gives_the_same_result(void **state) {
    (void)state;
    static const char *const values[] = {"abca", "caab", "abcabcab", "bbbb", "cabcc"};
    static const char *const texts[] = {"abcabcabcaabbbbbcabccabca", "xabcabcabxabcabcaxcaabca",
                                        "bbbbbbbbbabcabca", "abcabcaabcabccaab",
                                        "caabcabcabcabccab"};
    struct bs_secrets secrets = secrets_of(values, LENGTH(values));
    for (size_t i = 0; i < LENGTH(texts); i++) {
        size_t len = strlen(texts[i]);
        struct bs_bytes expected = oracle(values, LENGTH(values), texts[i], len);
        for (size_t first = 0; first <= len; first++) {
            for (size_t second = first; second <= len; second++)
                assert_same(in_pieces(&secrets, texts[i], len, first, second), &expected, texts[i]);
        }
        bs_bytes_clear(&expected);
    }
    bs_secrets_clear(&secrets);
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static void random_texts_in_single_bytes_give_the_same_result(void **state) {
    (void)state;
    static const char *const values[] = {"abab", "baba", "aabaab", "bbab", "abaabaab", "bababb"};
    struct bs_secrets secrets = secrets_of(values, LENGTH(values));
    uint32_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        char text[48];
        size_t len = next_random(&seed) % sizeof text;
        for (size_t i = 0; i < len; i++)
            text[i] = "aabbc"[next_random(&seed) % 5];
        text[len] = '\0';
        struct bs_bytes expected = oracle(values, LENGTH(values), text, len);
        struct bs_redactor redactor = BS_REDACTOR_INIT(&secrets);
        struct bs_buf out = BS_BUF_INIT;
        for (size_t i = 0; i < len; i++)
            bs_redact(&redactor, text + i, 1, false, &out);
        bs_redact(&redactor, "", 0, true, &out);
        bs_redactor_clear(&redactor);
        bs_buf_add(&out, "", 0);
        assert_same(bs_buf_take(&out), &expected, text);
        bs_bytes_clear(&expected);
    }
    bs_secrets_clear(&secrets);
}

static void a_possible_prefix_is_held_back_until_the_end(void **state) {
    (void)state;
    static const char *const values[] = {"hunter2"};
    struct bs_secrets secrets = secrets_of(values, 1);
    struct bs_redactor redactor = BS_REDACTOR_INIT(&secrets);
    struct bs_buf out = BS_BUF_INIT;
    bs_redact(&redactor, "see hunter", 10, false, &out);
    assert_int_equal(out.len, 4);
    bs_redact(&redactor, "", 0, true, &out);
    assert_int_equal(out.len, 10);
    assert_memory_equal(out.data, "see hunter", 10);
    bs_redactor_clear(&redactor);
    bs_buf_clear(&out);
    bs_secrets_clear(&secrets);
}

static void no_more_is_held_than_a_secret_is_long(void **state) {
    (void)state;
    static const char *const values[] = {"aaaaaaaaaaaaaaab", "aaaaaaaac", "aaab"};
    struct bs_secrets secrets = secrets_of(values, LENGTH(values));
    struct bs_redactor redactor = BS_REDACTOR_INIT(&secrets);
    struct bs_buf out = BS_BUF_INIT;
    static char text[4096];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < 64; i++) {
        bs_redact(&redactor, text, sizeof text, false, &out);
        assert_true(redactor.held.len < 16);
        assert_true(redactor.held.cap <= 4 * sizeof text);
        assert_int_equal(out.len + redactor.held.len, (i + 1) * sizeof text);
    }
    bs_redactor_clear(&redactor);
    bs_buf_clear(&out);
    bs_secrets_clear(&secrets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_secrets_are_recognised_by_their_words),
        cmocka_unit_test(secrets_come_from_the_process_and_from_the_pairs),
        cmocka_unit_test(each_text_is_redacted_as_expected),
        cmocka_unit_test(every_split_gives_the_same_result),
        cmocka_unit_test(random_texts_in_single_bytes_give_the_same_result),
        cmocka_unit_test(a_possible_prefix_is_held_back_until_the_end),
        cmocka_unit_test(no_more_is_held_than_a_secret_is_long),
    };
    return cmocka_run_group_tests_name("exec/redact", tests, without_variables, NULL);
}
