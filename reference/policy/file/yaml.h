/* YAML 1.2, core schema, to a tree, by the events of libyaml. */
#ifndef BS_POLICY_FILE_YAML_H
#define BS_POLICY_FILE_YAML_H

#include "policy/file/node.h"

/* 0; BS_E_INVALID with the flaw filled; BS_E_EXECUTION when memory ran out. The document is empty
 * in the last two cases. */
int bs_policy_read_yaml(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw);

#endif
