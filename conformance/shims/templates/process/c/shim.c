/* A shim for boxspec, contract process. Three places say FILL IN: name, capabilities, and a handle,
   in handle.c. Until then programs are started by fork and execvp, so that `boxspec smoke` and
   `boxspec run` answer at once. The other files need no change. */
#include "shim.h"

/* FILL IN: the name and version of your implementation. */
#define ABOUT "{\"name\": \"my-implementation\", \"version\": \"0.1\", \"language\": \"C\"}"

/* FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused. */
#define CAPABILITIES "[\"process\"]"

static bool always(const cJSON *message) { return message != NULL; }

const char hello[] = "{\"implementation\": " ABOUT ", \"capabilities\": " CAPABILITIES "}";

const struct operation operations[] = {
    {"process.script", "handles steps", process_script, always},
    {"process.bridge", "request", process_bridge, always},
    {0},
};
