/* The operations. Each decodes its request, calls the library and writes the whole answer. */
#ifndef BS_SHIM_OPS_H
#define BS_SHIM_OPS_H

#include <boxspec/sbpl.h>

#include "shim/answer.h"

/* Operations that start programs need run mode. In serve mode a child would inherit the stdin that
 * the protocol uses. */
enum bs_shim_mode { BS_MODE_SERVE, BS_MODE_RUN };

struct bs_policies;

struct bs_call {
    const cJSON *id;
    const cJSON *request; /* the whole request object */
    enum bs_shim_mode mode;
    struct bs_policies *policies; /* lives longer than the request */
    struct bs_sbpl_file *file;    /* the caller of bs_dispatch removes this file */
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
    const char *name; /* NULL marks the end of a table */
    enum bs_answer (*answer)(const struct bs_call *call, struct bs_json_writer *out);
    bool run_only;
};

/* Operations and capabilities of a build with backends. Without backends both lists are empty. */
extern const struct bs_operation bs_backend_operations[];
extern const char *const bs_backend_capabilities[];

/* Write the member "backends" of the answer to hello, if there are any. */
void bs_put_backends(struct bs_json_writer *out);

#define BS_SHIM_MOST_LINE (64UL * 1024 * 1024)

/* Work that remains after a request was answered. */
struct bs_done {
    enum bs_answer answer;
    bool bye;   /* end the process */
    char *hold; /* malloc'd: a named pipe to wait for before the end, or NULL */
    /* a file to remove: in run mode after waiting for the named pipe, in serve mode before the
     * answer */
    struct bs_sbpl_file file;
};

/* Write the answer to one request. */
struct bs_done bs_dispatch(const char *text, size_t len, enum bs_shim_mode mode,
                           struct bs_policies *policies, struct bs_json_writer *out);

#endif
