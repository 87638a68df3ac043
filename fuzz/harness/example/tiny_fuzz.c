#include "boxspec_fuzz.h"
#include "tiny_json.h"

static int take(const char *text, size_t len) { return tiny_json_is_valid(text, len); }

BOXSPEC_FUZZ_JSON(take)
