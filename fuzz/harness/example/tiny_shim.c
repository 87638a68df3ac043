/* A shim for the parser. It supports only policy.load: it refuses a text that is not JSON, and
 * accepts any other text as a policy. So it differs from implementations that read policies, but
 * fuzzing still detects every input that crashes the parser. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tiny_json.h"

static unsigned hex_at(const char *at) {
    char digits[5] = {0};
    memcpy(digits, at, 4);
    return (unsigned)strtoul(digits, NULL, 16);
}

static size_t put_code(char *to, unsigned code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    to[0] = (char)(0xE0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3F));
    to[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/* Decode a string of a member into a block of exactly its size. This may rely on the kit, which
 * writes well-formed JSON without a blank after a colon and does not escape code points above
 * FFFF. */
static char *member(const char *line, const char *name, size_t *len) {
    char *key = malloc(strlen(name) + 5);
    char *out = malloc(strlen(line) + 1);
    if (key == NULL || out == NULL)
        exit(2);
    (void)sprintf(key, "\"%s\":\"", name);
    const char *at = strstr(line, key);
    *len = 0;
    for (at = at != NULL ? at + strlen(key) : "\""; *at != '"'; at++) {
        if (*at != '\\') {
            out[(*len)++] = *at;
        } else if (*++at == 'u') {
            *len += put_code(out + *len, hex_at(at + 1));
            at += 4;
        } else {
            static const char letters[] = "bfnrt";
            const char *letter = strchr(letters, *at);
            out[(*len)++] = letter != NULL ? "\b\f\n\r\t"[letter - letters] : *at;
        }
    }
    out[*len] = '\0';
    char *exact = malloc(*len > 0 ? *len : 1);
    if (exact == NULL)
        exit(2);
    memcpy(exact, out, *len);
    free(out);
    free(key);
    return exact;
}

static void answer(const char *line) {
    size_t id_len;
    size_t len;
    char *id = member(line, "id", &id_len);
    (void)printf("{\"id\":\"%.*s\",", (int)id_len, id);
    if (strstr(line, "\"op\":\"hello\"") != NULL) {
        char *nonce = member(line, "nonce", &len);
        (void)printf("\"result\":{\"protocol\":1,\"nonce\":\"%.*s\",\"pid\":%ld,"
                     "\"spec_version\":\"1.0\",\"implementation\":{\"name\":\"tiny\","
                     "\"version\":\"1\",\"language\":\"C\",\"homepage\":\"\"},"
                     "\"capabilities\":[\"policy.load\",\"policy.json\"],"
                     "\"limits\":{\"max_line_bytes\":16777216},"
                     "\"constants\":{\"grace_ms\":5000,\"tick_ms\":100},\"backends\":{}}}\n",
                     (int)len, nonce, (long)getpid());
        free(nonce);
    } else if (strstr(line, "\"op\":\"policy.load\"") != NULL &&
               strstr(line, "\"format\":\"json\"") != NULL && strstr(line, "_b64") == NULL) {
        char *text = member(line, "text", &len);
        if (tiny_json_is_valid(text, len))
            (void)printf("\"result\":{\"name\":\"tiny\",\"warnings\":[]}}\n");
        else
            (void)printf("\"error\":{\"kind\":\"invalid_input\",\"message\":\"no JSON\"}}\n");
        free(text);
    } else {
        (void)printf("\"unsupported\":{\"capability\":\"any\",\"why\":\"JSON texts alone\"}}\n");
    }
    (void)fflush(stdout);
    free(id);
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0)
        answer(line);
    free(line);
    return 0;
}
