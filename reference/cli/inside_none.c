/* A build without backends: every option about a sandbox is refused. */
#include "cli/inside.h"

#include "cli/commands.h"

void bs_cli_inside_help(const char *before, const char *behind) {
    (void)fputs(before, stdout);
    (void)fputs("                         (this build has no backends)\n", stdout);
    (void)fputs(behind, stdout);
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
    return bs_cli_wrong("this build has no backends; leave --backend and what is beside it out");
}

int bs_cli_inside_read(struct bs_cli_inside *inside) {
    (void)inside;
    return 0;
}

int bs_cli_inside_open(struct bs_cli_inside *inside, bool own_root,
                       const struct bs_sandbox **sandbox) {
    (void)inside;
    (void)own_root;
    *sandbox = NULL;
    return 0;
}

const char *bs_cli_inside_cwd(const struct bs_cli_inside *inside) {
    (void)inside;
    return NULL;
}

void bs_cli_inside_close(struct bs_cli_inside *inside) { (void)inside; }
