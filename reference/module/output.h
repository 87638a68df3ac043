/* The JSON of a module: what goes in and what comes out is one value. */
#ifndef BS_MODULE_OUTPUT_H
#define BS_MODULE_OUTPUT_H

#include <boxspec/module.h>

#include "base/json.h"

/* Whether it is one JSON text; *why tells where not. False without memory. */
bool bs_module_is_json(const char *text, size_t len, struct bs_json_error *why, bool *is);

/* Takes the output over as the value, without the white space around it, or says why it is none.
 * 0, or BS_E_EXECUTION without memory. */
int bs_module_judge_output(struct bs_bytes *output, struct bs_module_result *result,
                           struct bs_error *err);

#endif
