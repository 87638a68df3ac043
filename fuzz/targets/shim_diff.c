/* Another implementation, through its shim, compared with the reference. Both get the same
 * requests, one batch for each input. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/matcher.h"
#include "shim/ops.h"
#include "shim/policies.h"
#include "support/answer_diff.h"
#include "support/case.h"
#include "support/fail.h"
#include "support/json_oracle.h"
#include "support/lie.h"
#include "support/marks.h"
#include "support/shim_gen.h"
#include "support/shim_process.h"

const char bs_fuzz_target[] = "shim_diff";

int __wrap_bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                              struct bs_matcher **out, struct bs_error *err);

/* Make profiles of the reference in this process use automata. The linker installs this wrapper
 * (fuzz/CMakeLists.txt). Building tables for profiles with few queries took most of the time, and
 * other targets check tables. If the shim is the reference's own, its tables are compared with
 * these automata. */
int __wrap_bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                              struct bs_matcher **out, struct bs_error *err) {
    return bs_matcher_compile_from(BS_TIER_AUTOMATON, patterns, n, fold, out, err);
}

/* The request that the failure is about, once it is known. Then only this request is shown. */
static size_t shown = SIZE_MAX;

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct bs_fuzz_shim_requests requests = {.pool = BS_FUZZ_POOL_INIT};
    bs_fuzz_shim_requests_read(&requests, data, size);
    for (size_t i = requests.from; i < requests.end; i++) {
        const struct bs_fuzz_shim_request *request = &requests.items[i];
        if (shown != SIZE_MAX && i != shown)
            continue;
        bs_fuzz_case_open(c, request->op);
        for (size_t m = 0; m < request->n_members; m++)
            bs_fuzz_case_json(c, request->members[m].name, request->members[m].json,
                              request->members[m].len);
        bs_fuzz_case_close(c);
    }
    bs_fuzz_pool_free(&requests.pool);
}

/* True if BOXSPEC_FUZZ_KNOWN, a list with commas, has the key of the finding. A shim with one
 * difference shows it all the time, so known differences are skipped to find others. Marks may
 * follow a key: then only a request with all of them is skipped. */
static bool is_known(const char *oracle, const char *kind, unsigned marks) {
    char key[128];
    int len = snprintf(key, sizeof key, "%s%s%s", oracle, kind[0] != '\0' ? " " : "", kind);
    const char *at = getenv("BOXSPEC_FUZZ_KNOWN");
    while (at != NULL) {
        if (strncmp(at, key, (size_t)len) == 0 && strchr("+,", at[len]) != NULL &&
            bs_fuzz_marks_include(marks, at + len, strcspn(at + len, ",")))
            return true;
        at = strchr(at, ',');
        if (at != NULL)
            at++;
    }
    return false;
}

/* The lines of a batch; starts[i] is the start of line i. */
struct batch {
    struct bs_buf lines;
    size_t starts[BS_SHIM_MOST_REQUESTS + 1];
    size_t n;
};

static void put_requests(struct batch *batch, const struct bs_fuzz_shim_requests *requests,
                         size_t from, size_t n) {
    *batch = (struct batch){.lines = BS_BUF_INIT, .n = n};
    for (size_t i = 0; i < n; i++) {
        bs_fuzz_shim_request_put(&batch->lines, &requests->items[from + i], from + i);
        batch->starts[i + 1] = batch->lines.len;
    }
}

static bool is_trouble(const struct bs_fuzz_shim_requests *requests, size_t from, size_t n) {
    struct batch batch;
    struct bs_fuzz_lines answers;
    put_requests(&batch, requests, from, n);
    bool trouble = bs_fuzz_shim_ask(&batch.lines, n, &answers) != BS_SHIM_WELL;
    bs_fuzz_lines_clear(&answers);
    bs_buf_clear(&batch.lines);
    return trouble;
}

/* Return the word by which the sanitizer names the crash, such as the kind of overflow, to
 * distinguish two crashes. The word is empty if there is none. */
static const char *cause(char *word, size_t room) {
    static const char mark[] = "Sanitizer: ";
    size_t len = 0;
    const char *words = bs_fuzz_shim_last_words(&len);
    const char *at = len > 0 ? memmem(words, len, mark, sizeof mark - 1) : NULL;
    size_t n = 0;
    if (at != NULL) {
        for (at += sizeof mark - 1; n + 1 < room && at < words + len; at++) {
            if (!((*at >= 'a' && *at <= 'z') || (*at == '-' && n > 0)))
                break;
            word[n++] = *at;
        }
    }
    word[n] = '\0';
    return word;
}

/* Return the kind of failure. If a sanitizer has begun a report, the shim has crashed, even if it
 * seems to hang because a busy machine delays the report. */
static enum bs_fuzz_trouble named(enum bs_fuzz_trouble trouble) {
    char word[64];
    return trouble == BS_SHIM_HUNG && *cause(word, sizeof word) != '\0' ? BS_SHIM_DIED : trouble;
}

static bool is_known_trouble(enum bs_fuzz_trouble trouble) {
    char word[64];
    return is_known(bs_fuzz_trouble_name(trouble), cause(word, sizeof word), 0);
}

/* Report the failure with few requests. First try the first request without an answer by itself.
 * Then halve the batch as long as one half causes the failure again. */
static _Noreturn void report_trouble(const struct bs_fuzz_shim_requests *requests,
                                     enum bs_fuzz_trouble trouble, size_t answered) {
    size_t from = requests->from;
    size_t n = requests->end - from;
    if (answered < n && is_trouble(requests, from + answered, 1)) {
        from += answered;
        n = 1;
    }
    while (n > 1) {
        size_t half = n / 2;
        if (is_trouble(requests, from, half)) {
            n = half;
        } else if (is_trouble(requests, from + half, n - half)) {
            from += half;
            n -= half;
        } else {
            break;
        }
    }
    bs_fuzz_shim_stop();
    char word[64];
    const char *why = cause(word, sizeof word);
    const char *colon = *why != '\0' ? ": " : "";
    bs_fuzz_shim_show_last_words(stderr);
    if (n > 1)
        bs_fuzz_fail(bs_fuzz_trouble_name(trouble), "%s%sby these requests together, of op %s", why,
                     colon, requests->items[from].op);
    shown = from;
    bs_fuzz_fail(bs_fuzz_trouble_name(trouble), "%s%sby request %zu alone", why, colon, from);
}

/* True if the answers differ. Answers of identical bytes are equal without being parsed. */
static bool differ(const struct bs_buf *ours, const char *theirs, size_t their_len,
                   struct bs_fuzz_pool *pool, const char **where) {
    struct bs_fuzz_json our_json;
    struct bs_fuzz_json their_json;
    bs_fuzz_json_read(ours->data, ours->len, true, pool, &our_json);
    if (our_json.root == NULL)
        return true;
    if (their_len + 1 == ours->len && memcmp(theirs, ours->data, their_len) == 0)
        return false;
    bs_fuzz_json_read(theirs, their_len, true, pool, &their_json);
    return bs_fuzz_answers_differ(our_json.root, their_json.root, where);
}

/* The difference to report: the one with the shortest request of a batch, except known kinds. */
struct difference {
    char kind[64]; /* operation and differing member */
    unsigned marks;
    size_t i;
    size_t len; /* length of the request; 0: no difference */
    struct bs_json_writer ours;
};

static void name_kind(struct difference *difference, const char *op, const char *where) {
    (void)snprintf(difference->kind, sizeof difference->kind, "%s-%s", op,
                   where != NULL ? where : "json");
    for (char *c = difference->kind; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? *c : '-';
}

static void compare(struct bs_fuzz_shim_requests *requests, const struct batch *batch, size_t i,
                    const struct bs_fuzz_lines *answers, struct bs_policies *policies,
                    struct difference *shortest) {
    struct difference found = {.i = i, .len = batch->starts[i + 1] - batch->starts[i]};
    const char *where = NULL;
    (void)bs_dispatch(batch->lines.data + batch->starts[i], found.len - 1, BS_MODE_SERVE, policies,
                      &found.ours);
    const struct bs_fuzz_shim_request *request = &requests->items[requests->from + i];
    bool differs =
        differ(&found.ours.text, answers->lines[i], answers->lens[i], &requests->pool, &where);
    /* In a malformed file, ignore a difference in the place of the error, because the contract
     * leaves it open. */
    differs = differs && !(request->is_broken && where != NULL && strcmp(where, "problems") == 0);
    differs = differs || bs_fuzz_lie("differs");
    if (differs)
        name_kind(&found, request->op, where);
    /* Use only the marks of the first member, which is the glob, the policy or the file. The paths
     * after it would add marks that do not concern the rules. */
    found.marks = bs_fuzz_marks_of(request->members[0].json, request->members[0].len);
    if (differs && !is_known("differs", found.kind, found.marks) &&
        (shortest->len == 0 || found.len < shortest->len)) {
        struct difference longer = *shortest;
        *shortest = found;
        found = longer;
    }
    bs_json_writer_clear(&found.ours);
}

static _Noreturn void report(const struct bs_fuzz_shim_requests *requests,
                             const struct difference *difference,
                             const struct bs_fuzz_lines *answers) {
    shown = requests->from + difference->i;
    bs_fuzz_shim_stop();
    char marks[BS_MARKS_ROOM];
    const char *named_marks = bs_fuzz_marks_name(difference->marks, marks);
    bs_fuzz_fail("differs", "%s: request %zu%s%s: %.*s, and the reference: %.*s", difference->kind,
                 shown, *named_marks != '\0' ? " " : "", named_marks,
                 (int)answers->lens[difference->i], answers->lines[difference->i],
                 (int)difference->ours.text.len - 1, difference->ours.text.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_fuzz_shim_requests requests;
    struct bs_policies policies = {.policy = NULL};
    struct difference difference = {.len = 0, .ours = BS_JSON_WRITER_INIT};
    struct bs_fuzz_lines answers;
    struct batch batch;
    bs_fuzz_begin(data, size);
    bs_fuzz_shim_requests_read(&requests, data, size);
    put_requests(&batch, &requests, requests.from, requests.end - requests.from);
    enum bs_fuzz_trouble trouble = named(bs_fuzz_shim_ask(&batch.lines, batch.n, &answers));
    /* A busy machine can delay any shim, so a single timeout is not a finding. */
    if (trouble == BS_SHIM_HUNG && !is_known_trouble(trouble)) {
        bs_fuzz_lines_clear(&answers);
        trouble = named(bs_fuzz_shim_ask(&batch.lines, batch.n, &answers));
    }
    if (trouble != BS_SHIM_WELL && !is_known_trouble(trouble))
        report_trouble(&requests, trouble, answers.n);
    for (size_t i = 0; i < batch.n && trouble == BS_SHIM_WELL; i++)
        compare(&requests, &batch, i, &answers, &policies, &difference);
    if (difference.len > 0)
        report(&requests, &difference, &answers);
    bs_policies_clear(&policies);
    bs_fuzz_lines_clear(&answers);
    bs_buf_clear(&batch.lines);
    bs_fuzz_pool_clear(&requests.pool);
    return 0;
}
