/* Opens sessions of each backend in a workspace, one after the other. A backend that cannot start
 * on this host is skipped, with its name. */
#ifndef BS_TESTS_BACKEND_INSIDE_H
#define BS_TESTS_BACKEND_INSIDE_H

#include <boxspec/backend.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"

struct inside {
    struct folder *folder;
    char root[128];
    struct bs_backend_context context;
    struct bs_backend_report report;
    struct bs_session *session;
};

static const char *backend_name;

static int setup(void **state) {
    struct inside *inside = calloc(1, sizeof *inside);
    void *folder = NULL;
    if (inside == NULL || folder_setup(&folder) != 0) {
        free(inside);
        return -1;
    }
    inside->folder = folder;
    folder_add_folder(folder, "ws");
    (void)snprintf(inside->root, sizeof inside->root, "%s/ws", inside->folder->path);
    inside->context = (struct bs_backend_context)BS_BACKEND_CONTEXT_INIT;
    inside->context.root = inside->root;
    inside->context.launcher = BOXSPEC_LAUNCH;
    inside->report = (struct bs_backend_report)BS_BACKEND_REPORT_INIT;
    *state = inside;
    return 0;
}

static int teardown(void **state) {
    struct inside *inside = *state;
    void *folder = inside->folder;
    int code = bs_session_close(inside->session, NULL);
    bs_backend_report_clear(&inside->report);
    free(inside);
    return folder_teardown(&folder) == 0 && code == BS_OK && !has_children() ? 0 : -1;
}

static void open_session(struct inside *inside) {
    struct bs_error err = BS_ERROR_INIT;
    /* close the session of an earlier call, if there is one */
    (void)bs_session_close(inside->session, NULL);
    inside->session = NULL;
    int code = bs_session_open(bs_backend_find(backend_name), &inside->context, BS_DEGRADE, NULL,
                               &inside->session, &inside->report, &err);
    if (code != BS_OK)
        fail_msg("%s", err.message);
    if (bs_session_enforcement(inside->session) != BS_CLAIM_UNAVAILABLE)
        return;
    print_message("%s does not start here: %s\n", backend_name, inside->report.warnings[0]);
    skip();
}

static inline bool exists(const struct inside *inside, const char *name) {
    struct stat st;
    return fstatat(inside->folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

#define INSIDE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* Run the tests in each backend and return the number of failures. The backend at index 0 is left
 * out, because it confines nothing. */
static int run_in_each_backend(const struct CMUnitTest *tests, size_t n) {
    int failed = 0;
    for (size_t i = 1; bs_backend_at(i) != NULL; i++) {
        backend_name = bs_backend_at(i)->name;
        failed += _cmocka_run_group_tests(backend_name, tests, n, NULL, NULL);
    }
    return failed;
}

#endif
