#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/document/shape.h"

enum { LONGEST_NUMBER = 64 };

static struct bs_place place_of(const struct bs_node *node) {
    return (struct bs_place){node->line, node->column};
}

/* Read an integer. YAML allows any number of zeros at its start, so these are skipped. */
bool bs_shape_integer(const struct bs_node *node, int64_t *value) {
    if (node->kind != BS_NODE_INTEGER)
        return false;
    const char *text = node->text;
    const char *end = text + node->len;
    bool negative = *text == '-';
    int base = 10;
    if (*text == '-' || *text == '+')
        text++;
    if (end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
        base = text[1] == 'x' ? 16 : 8;
        text += 2;
    }
    while (end - text > 1 && *text == '0')
        text++;
    char digits[1 + LONGEST_NUMBER + 1] = "";
    if (end - text > LONGEST_NUMBER) {
        *value = negative ? INT64_MIN : INT64_MAX;
        return true;
    }
    memcpy(digits + (negative ? 1 : 0), text, (size_t)(end - text));
    if (negative)
        digits[0] = '-';
    *value = strtoll(digits, NULL, base);
    return true;
}

static bool version_is_right(const struct bs_node *root, struct bs_problems *problems,
                             bool *is_first) {
    const struct bs_node *version = bs_node_member(root, "schemaVersion");
    struct bs_pointer pointer = {NULL, "schemaVersion", strlen("schemaVersion"), 0};
    int64_t number = 0;
    if (version == NULL) {
        bs_problems_add(problems, place_of(root), NULL, NULL,
                        "`schemaVersion` is missing; write `schemaVersion` 2");
        return false;
    }
    if (!bs_shape_integer(version, &number)) {
        bs_problems_add(problems, place_of(version), &pointer, NULL,
                        "`schemaVersion` must be the integer 2");
        return false;
    }
    *is_first = number == 1;
    if (*is_first) {
        bs_problems_add(problems, place_of(version), &pointer, NULL,
                        "schemaVersion 1 is not read any more: rules now stand in spec.denyRead, "
                        "spec.denyModify and spec.fsProfiles; `policy migrate` prints a draft");
    } else if (number == INT64_MAX || number == INT64_MIN) {
        bs_problems_addf(
            problems, place_of(version), &pointer, "unsupported policy schemaVersion %.*s",
            version->len > LONGEST_NUMBER ? LONGEST_NUMBER : (int)version->len, version->text);
    } else if (number != 2) {
        bs_problems_addf(problems, place_of(version), &pointer,
                         "unsupported policy schemaVersion %" PRId64, number);
    }
    return number == 2;
}

static bool kind_is_right(const struct bs_node *root, struct bs_problems *problems) {
    const struct bs_node *kind = bs_node_member(root, "kind");
    struct bs_pointer pointer = {NULL, "kind", strlen("kind"), 0};
    if (kind == NULL)
        bs_problems_add(problems, place_of(root), NULL, NULL,
                        "`kind` is missing; write `kind` \"Policy\"");
    else if (!bs_node_is(kind, "Policy"))
        bs_problems_add(problems, place_of(kind), &pointer, NULL, "`kind` must be \"Policy\"");
    return kind != NULL && bs_node_is(kind, "Policy");
}

bool bs_shape_is_policy(const struct bs_node *root, enum bs_policy_format format,
                        struct bs_problems *problems) {
    if (root->kind != BS_NODE_MAP) {
        bs_problems_add(problems, place_of(root), NULL, NULL,
                        format == BS_POLICY_JSON ? "a policy must be an object"
                                                 : "a policy must be a mapping");
        return false;
    }
    bool is_first = false;
    bool right = version_is_right(root, problems, &is_first);
    /* For a file of version 1 only the version is reported, because a missing `kind` is no mistake
     * there. */
    return is_first ? false : (kind_is_right(root, problems) && right);
}
