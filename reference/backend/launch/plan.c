#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "backend/plan/plan.h"
#include "base/sys.h"

bool set_failure(struct bs_launch_failure *failure, enum bs_launch_step step, int os_error,
                 const char *words) {
    memset(failure, 0, sizeof *failure);
    failure->step = (int)step;
    failure->os_error = os_error;
    size_t len = strlen(words);
    size_t most = sizeof failure->words - 1;
    memcpy(failure->words, words, len < most ? len : most);
    return false;
}

static char *read_file(const char *file, size_t *len) {
    struct stat st;
    int fd = (int)BS_RETRY(open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd < 0)
        return NULL;
    char *text = NULL;
    *len = 0;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)BS_PLAN_MOST_BYTES) {
        errno = EINVAL;
        goto finish;
    }
    size_t size = (size_t)st.st_size;
    text = malloc(size + 1);
    while (text != NULL && *len < size) {
        ssize_t n = (ssize_t)BS_RETRY(read(fd, text + *len, size - *len));
        if (n <= 0) {
            /* Treat an incomplete read as an error. A plan that is cut off between two entries
             * would look complete. */
            int os_error = n < 0 ? errno : EIO;
            free(text);
            text = NULL;
            errno = os_error;
            goto finish;
        }
        *len += (size_t)n;
    }
    if (text != NULL)
        text[*len] = '\0';
finish:
    bs_close(&fd);
    return text;
}

static size_t count_entries(const char *text, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\0';
    return n;
}

static bool parse_number(const char *value, int base, uint64_t *out) {
    char *stop = NULL;
    errno = 0;
    if (value[0] == '\0' || value[0] == '-' || value[0] == '+')
        return false;
    *out = strtoull(value, &stop, base);
    return errno == 0 && stop != value && *stop == '\0';
}

bool rights_parse(const char *text, uint64_t *rights) { return parse_number(text, 16, rights); }

bool grant_parse(const char *rights, const char *path, struct path_rule *rule) {
    rule->path = path;
    return path[0] == '/' && rights_parse(rights, &rule->rights);
}

static bool add_entry(struct plan *plan, const char *key, char *value) {
    if (strcmp(key, BS_PLAN_ARG) == 0) {
        plan->args[plan->n_args++] = value;
        return true;
    }
    if (strcmp(key, BS_PLAN_SEAL) == 0 && plan->read_only_proc == NULL) {
        plan->read_only_proc = value;
        size_t len = strlen(value);
        return value[0] == '/' && (strchr(value, ':') == NULL || value[len - 1] == ':');
    }
    if (strcmp(key, BS_PLAN_OWN) == 0) {
        plan->own_mounts = true;
        return strcmp(value, "mounts") == 0;
    }
    if (strcmp(key, BS_PLAN_CHECKED) == 0) {
        plan->checked[plan->n_checked++] = (struct checked){value, plan->n_args};
        return value[0] == '/';
    }
    if (strcmp(key, BS_PLAN_FILTER) == 0) {
        plan->filter = value;
        return true;
    }
    struct grants *grants = &plan->grants;
    if (strcmp(key, BS_PLAN_FS) == 0)
        return rights_parse(value, &grants->handled.fs);
    if (strcmp(key, BS_PLAN_NET) == 0)
        return rights_parse(value, &grants->handled.net);
    if (strcmp(key, BS_PLAN_SCOPE) == 0)
        return rights_parse(value, &grants->handled.scope);
    if (strcmp(key, BS_PLAN_PORT) == 0)
        return parse_number(value, 10, &grants->ports[grants->n_ports++]);
    if (strcmp(key, BS_PLAN_PATH) == 0) {
        char *space = strchr(value, ' ');
        if (space == NULL)
            return false;
        *space = '\0';
        return grant_parse(value, space + 1, &grants->paths[grants->n_paths++]);
    }
    return false;
}

/* Check that the first entry is the mode and that the text ends with a NUL, which shows that the
 * plan is complete. Then parse the entries. */
static bool parse(struct plan *plan, char *text, size_t len) {
    size_t n = count_entries(text, len);
    if (len == 0 || text[len - 1] != '\0')
        return false;
    plan->args = calloc(n + 1, sizeof *plan->args);
    plan->checked = calloc(n + 1, sizeof *plan->checked);
    struct grants *grants = &plan->grants;
    grants->paths = calloc(n + 1, sizeof *grants->paths);
    grants->ports = calloc(n + 1, sizeof *grants->ports);
    if (plan->args == NULL || plan->checked == NULL || grants->paths == NULL ||
        grants->ports == NULL)
        return false;
    char *entry = text;
    plan->namespaces = strcmp(entry, BS_PLAN_MODE "=bubblewrap") == 0;
    if (!plan->namespaces && strcmp(entry, BS_PLAN_MODE "=landlock") != 0)
        return false;
    char *next = entry + strlen(entry) + 1;
    for (size_t i = 1; i < n; i++) {
        entry = next;
        next = entry + strlen(entry) + 1;
        char *equals = strchr(entry, '=');
        if (equals == NULL)
            return false;
        *equals = '\0';
        if (!add_entry(plan, entry, equals + 1))
            return false;
    }
    return plan->namespaces ? plan->n_args > 0 : grants->handled.fs != 0;
}

bool plan_read(const char *file, struct plan *plan, struct bs_launch_failure *failure) {
    size_t len = 0;
    *plan = (struct plan){.namespaces = false};
    char *text = read_file(file, &len);
    if (text == NULL)
        return set_failure(failure, BS_LAUNCH_SANDBOX, errno, "its plan cannot be read");
    plan->text = text;
    return parse(plan, text, len) || set_failure(failure, BS_LAUNCH_SANDBOX, 0,
                                                 "its plan is not one that this launcher knows");
}
