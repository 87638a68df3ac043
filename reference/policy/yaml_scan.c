#include "policy/yaml_scan.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* Of well-formed UTF-8: why the character at text may not stand in a file, or NULL. */
static const char *forbidden(const unsigned char *text) {
    static const char control[] = "a control character; write it as an escape";
    static const char line_break[] =
        "U+0085, U+2028 and U+2029 are line breaks to half of the YAML readers; write it as an "
        "escape";
    if (text[0] == '\0')
        return "a NUL";
    if (text[0] < 0x20)
        return text[0] == '\t' || text[0] == '\n' || text[0] == '\r' ? NULL : control;
    if (text[0] == 0x7F)
        return control;
    if (text[0] == 0xC2 && text[1] < 0xA0)
        return text[1] == 0x85 ? line_break : control;
    if (text[0] == 0xE2 && text[1] == 0x80 && (text[2] == 0xA8 || text[2] == 0xA9))
        return line_break;
    if (text[0] == 0xEF && text[1] == 0xBF && text[2] >= 0xBE)
        return "a code point that is no character; write it as an escape";
    return NULL;
}

struct bs_yaml_scan bs_yaml_scan(const char *text, size_t len) {
    size_t valid = bs_utf8_valid_prefix(text, len);
    if (valid < len)
        return (struct bs_yaml_scan){valid, "this is not UTF-8", false};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        return (struct bs_yaml_scan){0, "a byte order mark; remove it", false};
    struct bs_yaml_scan scan = {0, NULL, true};
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c < 0x7F)
            continue;
        scan.is_ascii = scan.is_ascii && c < 0x80;
        scan.problem = forbidden((const unsigned char *)text + i);
        if (scan.problem != NULL) {
            scan.at = i;
            return scan;
        }
    }
    return scan;
}
