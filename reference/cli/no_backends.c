/* Replaces the files about sandboxes in a build without backends. The shim and the commands then
 * have no operation, capability or option of a sandbox. They refuse a request or an option that
 * names one. */
#include "cli/commands.h"
#include "cli/inside.h"
#include "shim/inside.h"
#include "shim/ops.h"

const struct bs_operation bs_backend_operations[] = {{NULL, NULL, false}};
const char *const bs_backend_capabilities[] = {NULL};

void bs_put_backends(struct bs_json_writer *out) { (void)out; }

struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request,
                                   bool makes_root) {
    (void)makes_root;
    if (cJSON_GetObjectItemCaseSensitive(request, "backend") != NULL)
        bs_problem(decoder, "/backend", "this build has no backends; leave it out");
    return NULL;
}

int bs_inside_open(struct bs_inside *inside, struct bs_error *err) {
    (void)inside;
    (void)err;
    return BS_OK;
}

int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err) {
    (void)inside;
    (void)request;
    (void)err;
    return BS_OK;
}

int bs_inside_run(const struct bs_inside *inside, const struct bs_exec_request *request,
                  struct bs_exec_result *result, struct bs_error *err) {
    (void)inside;
    return bs_exec_run(request, result, err);
}

const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside) {
    (void)inside;
    return NULL;
}

void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out) {
    (void)inside;
    (void)out;
}

void bs_inside_close(struct bs_inside *inside) { (void)inside; }

void bs_cli_inside_help(const char *before, const char *after) {
    (void)fputs(before, stdout);
    (void)fputs("                         (this build has no backends)\n", stdout);
    (void)fputs(after, stdout);
}

bool bs_cli_inside_init(struct bs_cli_inside *inside, int argc) {
    (void)argc;
    *inside = (struct bs_cli_inside){.backend = NULL};
    return true;
}

void bs_cli_inside_clear(struct bs_cli_inside *inside) { (void)inside; }

int bs_cli_inside_option(struct bs_cli_inside *inside, int option, const char *value) {
    (void)inside;
    (void)value;
    if (option < BS_CLI_BACKEND || option > BS_CLI_UNAVAILABLE)
        return -1;
    return bs_cli_wrong("this build has no backends; leave out --backend and its options");
}

int bs_cli_inside_read(struct bs_cli_inside *inside) {
    (void)inside;
    return 0;
}

int bs_cli_inside_open(struct bs_cli_inside *inside) {
    (void)inside;
    return 0;
}

const struct bs_sandbox *bs_cli_inside_sandbox(const struct bs_cli_inside *inside) {
    (void)inside;
    return NULL;
}

const char *bs_cli_inside_cwd(const struct bs_cli_inside *inside) {
    (void)inside;
    return NULL;
}

void bs_cli_inside_close(struct bs_cli_inside *inside) { (void)inside; }

int bs_cli_sandbox(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return bs_cli_wrong("sandbox: this build has no backends");
}
