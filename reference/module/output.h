/* Checks that the input and the output of a module are each one JSON value. */
#ifndef BS_MODULE_OUTPUT_H
#define BS_MODULE_OUTPUT_H

#include <boxspec/module.h>

#include "base/json.h"

/* Set *is to whether the text is one JSON value. If it is not, *why has the position and the
 * reason. Returns false if memory ran out. */
bool bs_module_is_json(const char *text, size_t len, struct bs_json_error *why, bool *is);

/* Move the output into the result as its value, without white space around it. If the output is not
 * JSON, set the outcome instead. If `complete` is false, output may be lost after the last byte: a
 * number at the end is refused then, because a part of a number is a number too. Returns 0, or
 * BS_E_EXECUTION if memory ran out. */
int bs_module_check_output(struct bs_bytes *output, bool complete, struct bs_module_result *result,
                           struct bs_error *err);

#endif
