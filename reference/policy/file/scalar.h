/* What a plain scalar of YAML means by the core schema (YAML 1.2.2, section 10.3). */
#ifndef BS_POLICY_FILE_SCALAR_H
#define BS_POLICY_FILE_SCALAR_H

#include "policy/file/node.h"

enum bs_node_kind bs_plain_scalar_kind(const char *text, size_t len);

#endif
