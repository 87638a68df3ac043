/* JSON to a tree. The recogniser tells the structure; cJSON decodes the strings that have escapes.
 * A whole tree of cJSON beside the other one would cost more than all the rest of loading. */
#ifndef BS_POLICY_FILE_JSON_H
#define BS_POLICY_FILE_JSON_H

#include "policy/file/node.h"

/* The text is borrowed until the document is cleared. 0; BS_E_INVALID with the flaw filled;
 * BS_E_EXECUTION when memory ran out. The document is empty in the last two cases. */
int bs_policy_read_json(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw);

#endif
