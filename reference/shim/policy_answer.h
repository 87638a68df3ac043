/* Writes the parts of answers that are about policies. */
#ifndef BS_SHIM_POLICY_ANSWER_H
#define BS_SHIM_POLICY_ANSWER_H

#include <boxspec/profile.h>

#include "shim/answer.h"

enum bs_answer bs_answer_loaded(struct bs_json_writer *out, const cJSON *id,
                                const struct bs_policy *policy,
                                const struct bs_policy_report *report);

/* Write the error of a policy that could not be loaded, with its problems. */
enum bs_answer bs_answer_unloaded(struct bs_json_writer *out, const cJSON *id, int code,
                                  const struct bs_error *err,
                                  const struct bs_policy_report *report);

/* Write {"profile": ..., "profile_origin": ..., "read": [...], "modify": [...]}. */
void bs_put_resolved_lists(struct bs_json_writer *out, const struct bs_profile *profile);

/* Write the members allowed, path and matched_rule into an object that the caller opens and
 * closes. */
void bs_put_decision(struct bs_json_writer *out, const struct bs_decision *decision);

/* Write an object with the members of the decision, and "entries". */
void bs_put_explanation(struct bs_json_writer *out, const struct bs_explanation *explanation);

#endif
