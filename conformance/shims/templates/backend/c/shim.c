/* A shim for boxspec, contract backend. Four places say FILL IN: name, the features that your
   sandbox lacks, its claims, and its command line. Until then programs are confined by bubblewrap,
   so that `boxspec smoke` and `boxspec run` answer at once. The other files need no change. */
#include "shim.h"

#include <string.h>

/* FILL IN: the name and version of your sandbox, and how it confines. */
#define ABOUT "{\"name\": \"my-implementation\", \"version\": \"0.1\", \"language\": \"C\"}"
#define NAME "mine"
#define MECHANISM "namespaces"

/* FILL IN: what your sandbox does not have: "open network", "cache", or a profile. */
#define LACKS "[\"cache\", \"full-dev\"]"

/* FILL IN: its claims: "fully", or the reason why an aspect is not enforced. */
const char *const claims[][2] = {
    {"fs-write", "fully"},
    {"fs-metadata", "fully"},
    {"process", "fully"},
    {"network", "this sandbox leaves the network open"},
    {"ipc", "this sandbox shares queues, shared memory and sockets with the host"},
    {NULL, NULL},
};

/* FILL IN: the command that runs `argv` in your sandbox. Programs may write in `root` (not under
   the profile read-only) and in `scratch`, a private directory outside the root, and start in
   `cwd`. */
char **command(char **argv, const char *root, const char *scratch, const char *cwd,
               const char *profile) {
    const char *bind = strcmp(profile, "read-only") == 0 ? "--ro-bind" : "--bind";
    const char *const words[] = {
        "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--unshare-user",
        "--unshare-pid",
        "--die-with-parent",
        "--new-session",
        "--bind",
        scratch,
        scratch,
        bind,
        root,
        root,
        "--chdir",
        cwd,
        "--",
        NULL,
    };
    return joined(words, argv);
}

static bool always(const cJSON *message) { return message != NULL; }

const char name[] = NAME;

const char hello[] = "{\"implementation\": " ABOUT ", \"capabilities\": [\"backend\"], "
                     "\"backends\": {\"" NAME "\": {\"mechanism\": \"" MECHANISM "\", "
                     "\"lacks\": " LACKS "}}}";

const struct operation operations[] = {
    {"backend.probe", "backend profile egress", probe, always},
    {"backend.run", "backend on_unavailable context calls", session, always},
    {0},
};
