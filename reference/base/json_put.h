/* Strings of JSON, out. */
#ifndef BS_BASE_JSON_PUT_H
#define BS_BASE_JSON_PUT_H

#include "base/buf.h"

/* Text must be UTF-8. */
void bs_json_put_string(struct bs_buf *out, const char *text, size_t len);

#endif
