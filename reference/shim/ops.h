/* The operations, one file a contract. Each decodes, calls the library and appends a whole answer.
 */
#ifndef BS_SHIM_OPS_H
#define BS_SHIM_OPS_H

#include <boxspec/sbpl.h>

#include "shim/answer.h"

/* Where a request came from decides what it may ask for: under serve a child would inherit the
 * protocol's own stdin. */
enum bs_door { BS_DOOR_SERVE, BS_DOOR_RUN };

struct bs_policies;

struct bs_call {
    const cJSON *id;
    const cJSON *request; /* the whole object */
    enum bs_door door;
    struct bs_policies *policies; /* of the door: outlives the request */
    struct bs_sbpl_file *file;    /* of the door, which removes it */
};

enum bs_answer bs_op_hello(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_bye(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_exec_run(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_exec_batch(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_exec_format_env(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_path_normalize(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_glob_match(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_policy_load(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_policy_resolve(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_policy_check(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_policy_check_resolved(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_policy_explain(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_policy_audit(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_module_execute(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_process_script(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_process_bridge(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_sbpl_compile(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_sbpl_wrap(const struct bs_call *call, struct bs_json_writer *out);
enum bs_answer bs_op_backend_run(const struct bs_call *call, struct bs_json_writer *out);

struct bs_operation {
    const char *name; /* NULL ends a table */
    enum bs_answer (*answer)(const struct bs_call *call, struct bs_json_writer *out);
    bool run_only;
};

/* What a build with backends adds; in a build without them both tables are empty. */
extern const struct bs_operation bs_backend_operations[];
extern const char *const bs_backend_capabilities[];

/* The member "backends" of hello, if there are any. */
void bs_put_backends(struct bs_json_writer *out);

#define BS_SHIM_MOST_LINE (64UL * 1024 * 1024)

/* What a door has to know about a request that was answered. */
struct bs_done {
    enum bs_answer answer;
    bool bye;                 /* it asks the shim to leave */
    char *hold;               /* malloc'd: a fifo to wait at before leaving, NULL for none */
    struct bs_sbpl_file file; /* to be removed: behind the hold, or before an answer of serve */
};

/* Answers one request into `out`. */
struct bs_done bs_dispatch(const char *text, size_t len, enum bs_door door,
                           struct bs_policies *policies, struct bs_json_writer *out);

#endif
