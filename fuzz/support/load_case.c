#include "support/load_case.h"

#include <string.h>

#include "support/fail.h"
#include "support/json_oracle.h"
#include "support/lie.h"
#include "support/steps.h"
#include "support/yaml_oracle.h"

/* Limits in basic blocks, for each call and for each byte. Exceptions are checked by a matcher of
 * the denies before them, which has a limit of its own. */
enum { STEPS_A_CALL = 4000, STEPS_A_BYTE = 120, STEPS_A_MATCHER = 60000000 };

void bs_fuzz_read_text(struct bs_policy_text text, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_read *read) {
    *read = (struct bs_fuzz_read){.text = text, .last = text.len, .alien = SIZE_MAX};
    if (text.format == BS_POLICY_YAML) {
        struct bs_fuzz_yaml yaml;
        bs_fuzz_yaml_read(text.data, text.len, pool, &yaml);
        read->root = yaml.root;
        read->at = yaml.at;
        return;
    }
    struct bs_fuzz_json json;
    bs_fuzz_json_read(text.data, text.len, false, pool, &json);
    read->root = json.root;
    read->first = json.word;
    read->last = json.at;
    read->alien = json.alien;
}

bool bs_fuzz_may_except(const char *text, size_t len) {
    if (len > 0 && memchr(text, '!', len) != NULL)
        return true;
    for (size_t i = 1; i < len; i++) {
        if (text[i - 1] == '2' && text[i] == '1')
            return true;
    }
    return false;
}

static uint64_t steps_for(const struct bs_policy_text *text) {
    if (text == NULL)
        return 0;
    bool excepts = bs_fuzz_may_except(text->data, text->len);
    return STEPS_A_CALL + STEPS_A_BYTE * (uint64_t)text->len + (excepts ? STEPS_A_MATCHER : 0);
}

void bs_fuzz_load(const struct bs_policy_text *global, const struct bs_policy_text *workspace,
                  struct bs_fuzz_load *load) {
    struct bs_policy *const untouched = (struct bs_policy *)load;
    load->policy = untouched;
    load->report = (struct bs_policy_report)BS_POLICY_REPORT_INIT;
    load->err.message[0] = '\0'; /* only the part of the two KiB that is read is cleared */
    bs_fuzz_steps_start();
    load->code = bs_policy_load(global, workspace, &load->policy, &load->report, &load->err);
    uint64_t steps = bs_fuzz_steps_taken();
    uint64_t most = steps_for(global) + steps_for(workspace);
    if (steps > most || bs_fuzz_lie("budget"))
        bs_fuzz_fail("budget", "%llu steps, at most %llu", (unsigned long long)steps,
                     (unsigned long long)most);
    bool refused = load->code != BS_OK;
    bool touched = refused == (load->policy != untouched) || bs_fuzz_lie("untouched");
    bool worded = !refused || (load->code == BS_E_INVALID && load->err.message[0] != '\0');
    bool reported = refused == (load->report.n_problems > 0);
    if (touched || !worded || !reported)
        bs_fuzz_fail("untouched", "code %d, %zu problems, message `%s`, policy %s", load->code,
                     load->report.n_problems, load->err.message, touched ? "touched" : "as it was");
    if (refused)
        load->policy = NULL;
}

void bs_fuzz_load_clear(struct bs_fuzz_load *load) {
    bs_policy_free(load->policy);
    bs_policy_report_clear(&load->report);
    load->policy = NULL;
}

static bool is_same_problem(const struct bs_policy_problem *a, const struct bs_policy_problem *b) {
    bool codes =
        a->code == b->code || (a->code != NULL && b->code != NULL && strcmp(a->code, b->code) == 0);
    return codes && a->source == b->source && a->line == b->line && a->column == b->column &&
           strcmp(a->pointer, b->pointer) == 0 && strcmp(a->message, b->message) == 0;
}

void bs_fuzz_compare_loads(const struct bs_fuzz_load *first, const struct bs_fuzz_load *second) {
    const struct bs_policy_report *a = &first->report;
    const struct bs_policy_report *b = &second->report;
    bool same = first->code == second->code && a->n_problems == b->n_problems &&
                a->n_warnings == b->n_warnings && !bs_fuzz_lie("again");
    for (size_t i = 0; i < a->n_problems && same; i++)
        same = is_same_problem(&a->problems[i], &b->problems[i]);
    for (size_t i = 0; i < a->n_warnings && same; i++)
        same = is_same_problem(&a->warnings[i], &b->warnings[i]);
    if (!same)
        bs_fuzz_fail("again", "loading the same text again gives another answer");
}

/* Check only the place of the event that was refused, because other mistakes may follow it. */
static void check_event(const struct bs_policy_problem *problem, struct bs_fuzz_place at) {
    if (at.line != 0 && (problem->line != at.line || problem->column != at.column))
        bs_fuzz_fail("place", "refused at %u:%u, and the error is at %u:%u", problem->line,
                     problem->column, at.line, at.column);
}

static void check_syntax(const struct bs_fuzz_load *load, const struct bs_fuzz_read *read,
                         enum bs_policy_source source) {
    size_t of_file = 0;
    const struct bs_policy_problem *problem = NULL;
    for (size_t i = 0; i < load->report.n_problems; i++) {
        if (load->report.problems[i].source != source)
            continue;
        problem = &load->report.problems[i];
        of_file++;
    }
    if (of_file != 1 || problem->pointer[0] != '\0' || bs_fuzz_lie("syntax"))
        bs_fuzz_fail("syntax", "not well-formed, and %zu problems are reported%s%s", of_file,
                     of_file > 0 ? ", one of them of " : "", of_file > 0 ? problem->pointer : "");
    if (read->text.format != BS_POLICY_JSON) {
        check_event(problem, read->at);
        return;
    }
    struct bs_fuzz_place first = bs_fuzz_place_of(read->text.data, read->first);
    struct bs_fuzz_place last = bs_fuzz_place_of(read->text.data, read->last);
    struct bs_fuzz_place alien = {0, 0};
    if (read->alien != SIZE_MAX)
        alien = bs_fuzz_place_of(read->text.data, read->alien);
    uint64_t at = (uint64_t)problem->line << 32 | problem->column;
    bool within = at >= ((uint64_t)first.line << 32 | first.column) &&
                  at <= ((uint64_t)last.line << 32 | last.column);
    bool is_alien = problem->line == alien.line && problem->column == alien.column;
    if (!(within || is_alien) || bs_fuzz_lie("place"))
        bs_fuzz_fail("place", "refused at %u:%u, and the error is between %u:%u and %u:%u",
                     problem->line, problem->column, first.line, first.column, last.line,
                     last.column);
}

/* The place of a problem. Problems are sorted by file, then line, then column. */
struct spot {
    unsigned file;
    uint32_t line;
    uint32_t column;
};

static int order_of(struct spot a, struct spot b) {
    if (a.file != b.file)
        return a.file < b.file ? -1 : 1;
    if (a.line != b.line)
        return a.line < b.line ? -1 : 1;
    return a.column < b.column ? -1 : a.column > b.column;
}

static struct spot spot_of(const struct bs_policy_problem *problem) {
    return (struct spot){problem->source == BS_FROM_WORKSPACE, problem->line, problem->column};
}

static bool is_found(const struct bs_fuzz_finding *findings,
                     const struct bs_policy_problem *reported) {
    for (; findings != NULL; findings = findings->next) {
        struct spot spot = {findings->of_workspace, findings->place.line, findings->place.column};
        if (order_of(spot, spot_of(reported)) == 0 &&
            (reported->code == NULL || strcmp(reported->code, findings->what) == 0))
            return true;
    }
    return false;
}

static bool is_reported(const struct bs_policy_problem *reported, size_t n,
                        const struct bs_fuzz_finding *finding) {
    struct bs_fuzz_finding single = *finding;
    single.next = NULL;
    for (size_t i = 0; i < n; i++) {
        if (is_found(&single, &reported[i]))
            return true;
    }
    return finding->is_doubtful;
}

static void compare(const char *oracle, const struct bs_policy_problem *reported, size_t n,
                    const struct bs_fuzz_finding *findings) {
    for (size_t i = 0; i < n; i++) {
        if (!is_found(findings, &reported[i]) || bs_fuzz_lie(oracle))
            bs_fuzz_fail(oracle, "reported at %u:%u, where no problem is: %s", reported[i].line,
                         reported[i].column, reported[i].message);
        if (i > 0 && order_of(spot_of(&reported[i - 1]), spot_of(&reported[i])) > 0)
            bs_fuzz_fail(oracle, "%u:%u is reported before %u:%u", reported[i - 1].line,
                         reported[i - 1].column, reported[i].line, reported[i].column);
    }
    for (; findings != NULL; findings = findings->next) {
        if (!is_reported(reported, n, findings))
            bs_fuzz_fail(oracle, "not reported: %u:%u, %s", findings->place.line,
                         findings->place.column, findings->what);
    }
}

/* True if a part of a pointer, in which `~` and `/` are escaped, is the key. */
static bool is_part(const char *part, size_t len, const struct bs_fuzz_node *key) {
    size_t at = 0;
    for (size_t i = 0; i < key->len; i++) {
        char c = key->text[i];
        bool escaped = c == '~' || c == '/';
        if (at >= len || part[at] != (escaped ? '~' : c))
            return false;
        at++;
        if (escaped && (at >= len || part[at++] != (c == '~' ? '0' : '1')))
            return false;
    }
    return at == len;
}

static bool is_index(const char *part, size_t len, size_t index) {
    size_t value = 0;
    for (size_t i = 0; i < len; i++)
        value = value * 10 + (size_t)(part[i] - '0');
    return len > 0 && value == index;
}

static bool stands_at(const struct bs_fuzz_node *node, const struct bs_policy_problem *problem) {
    return node->place.line == problem->line && node->place.column == problem->column;
}

/* True if the problem is at the value to which the pointer leads, or at the key of that value. If a
 * key is repeated, both of its values are tried. */
static bool leads_to(const struct bs_fuzz_node *node, const struct bs_fuzz_node *key,
                     const char *pointer, const struct bs_policy_problem *problem) {
    if (*pointer == '\0')
        return stands_at(node, problem) || (key != NULL && stands_at(key, problem));
    const char *part = pointer + 1;
    size_t len = strcspn(part, "/");
    size_t index = 0;
    for (const struct bs_fuzz_node *child = node->first; child != NULL; child = child->next) {
        const struct bs_fuzz_node *name = NULL;
        bool right = node->kind == BS_FUZZ_LIST && is_index(part, len, index++);
        if (node->kind == BS_FUZZ_MAP) {
            name = child;
            right = is_part(part, len, name);
            child = child->next;
        }
        if (right && leads_to(child, name, part + len, problem))
            return true;
    }
    return false;
}

static void check_pointers(const struct bs_policy_problem *reported, size_t n,
                           const struct bs_fuzz_read *global,
                           const struct bs_fuzz_read *workspace) {
    for (size_t i = 0; i < n; i++) {
        const struct bs_fuzz_read *file =
            reported[i].source == BS_FROM_WORKSPACE ? workspace : global;
        if (file == NULL || !leads_to(file->root, NULL, reported[i].pointer, &reported[i]))
            bs_fuzz_fail("place", "`%s` does not lead to %u:%u", reported[i].pointer,
                         reported[i].line, reported[i].column);
    }
}

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool bs_fuzz_judge_load(const struct bs_fuzz_load *load, const struct bs_fuzz_read *global,
                        const struct bs_fuzz_read *workspace, struct bs_fuzz_pool *pool,
                        struct bs_fuzz_verdict *verdict) {
    const struct bs_policy_report *report = &load->report;
    if (global->root == NULL)
        check_syntax(load, global, BS_FROM_GLOBAL);
    if (workspace != NULL && workspace->root == NULL)
        check_syntax(load, workspace, BS_FROM_WORKSPACE);
    if (global->root == NULL || (workspace != NULL && workspace->root == NULL))
        return false;
    bs_fuzz_judge(global->root, workspace != NULL ? workspace->root : NULL, pool, verdict);
    if ((load->code == BS_OK) != (verdict->problems == NULL) || bs_fuzz_lie("verdict"))
        bs_fuzz_fail("verdict", "%s, and the judge says: %s", load->err.message,
                     verdict->problems != NULL ? verdict->problems->what : "nothing is wrong");
    compare("place", report->problems, report->n_problems, verdict->problems);
    compare("warnings", report->warnings, report->n_warnings, verdict->warnings);
    check_pointers(report->problems, report->n_problems, global, workspace);
    check_pointers(report->warnings, report->n_warnings, global, workspace);
    if (load->code != BS_OK)
        return true;
    if (!same_text(bs_policy_name(load->policy), verdict->policy.name) ||
        !same_text(bs_policy_description(load->policy), verdict->policy.description) ||
        bs_fuzz_lie("content"))
        bs_fuzz_fail("content", "the name or the description is another one");
    return true;
}
