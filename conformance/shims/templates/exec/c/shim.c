/* The modes of boxspec's shim protocol. Five places say FILL IN, in shim.h, run.c and text.c. Until
   you fill them in, programs are run by fork and execvp. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

static const cJSON *field(const cJSON *holder, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(holder, name);
}

static bool known(const cJSON *request) {
    static const char *const names[] = {FIELDS};
    const cJSON *each;
    cJSON_ArrayForEach(each, request) {
        bool found = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            found = found || strcmp(names[i], each->string) == 0;
        if (!found)
            return false;
    }
    return true;
}

static cJSON *one(const char *kind, const char *key, const char *value, const char *more,
                  const char *words) {
    cJSON *answer = cJSON_CreateObject(), *inside = cJSON_AddObjectToObject(answer, kind);
    if (key)
        cJSON_AddStringToObject(inside, key, value);
    if (more)
        cJSON_AddStringToObject(inside, more, words);
    return answer;
}

static cJSON *hello(const cJSON *message) {
    cJSON *answer = one("result", NULL, NULL, NULL, NULL), *said = answer->child;
    cJSON_AddNumberToObject(said, "protocol", 1);
    cJSON_AddItemToObject(said, "nonce", cJSON_Duplicate(field(message, "nonce"), true));
    cJSON_AddNumberToObject(said, "pid", getpid());
    cJSON *about = cJSON_AddObjectToObject(said, "implementation");
    cJSON_AddStringToObject(about, "name", NAME);
    cJSON_AddStringToObject(about, "version", VERSION);
    cJSON_AddStringToObject(about, "language", "C");
    cJSON_AddItemToObject(said, "capabilities", cJSON_Parse(CAPABILITIES));
    cJSON_AddItemToObject(said, "constants", cJSON_Parse(CONSTANTS));
    return answer;
}

static cJSON *answer(const cJSON *message, bool serving) {
    const char *op = cJSON_GetStringValue(field(message, "op"));
    const cJSON *request = field(message, "request");
    if (strcmp(op, "hello") == 0)
        return hello(message);
    if (strcmp(op, "bye") == 0)
        return one("result", NULL, NULL, NULL, NULL);
    if (strcmp(op, "exec.run") != 0 || field(message, "sandbox") || !known(request))
        return one("unsupported", "capability", op, "why", "not in this shim");
    if (serving)
        return one("error", "kind", "invalid_input", "message", "programs are run in run mode");
    return run(request);
}

/* Answers one message. Returns its `hold`, which the caller frees, or NULL. */
static char *reply(const char *line, bool serving, FILE *to) {
    cJSON *message = cJSON_Parse(line), *said = answer(message, serving);
    const char *hold = cJSON_GetStringValue(field(message, "hold"));
    char *kept = hold ? strdup(hold) : NULL;
    cJSON_AddItemToObject(said, "id", cJSON_Duplicate(field(message, "id"), true));
    char *text = cJSON_PrintUnformatted(said);
    fprintf(to, "%s\n", text), fflush(to);
    free(text), cJSON_Delete(said), cJSON_Delete(message);
    return kept;
}

int main(int argc, char **argv) {
    char *line = NULL, name[4096];
    size_t room = 0;
    if (argc == 2) {
        while (getline(&line, &room, stdin) > 0)
            free(reply(line, true, stdout));
        return 0;
    }
    FILE *from = fopen(argv[2], "r");
    snprintf(name, sizeof name, "%s.new", argv[3]);
    FILE *to = fopen(name, "w");
    if (!from || !to || getdelim(&line, &room, '\0', from) < 0)
        return 2;
    char *hold = reply(line, false, to);
    if (fclose(to) != 0 || rename(name, argv[3]) != 0) /* a reader never sees part of an answer */
        return 2;
    FILE *fifo = hold ? fopen(hold, "r") : NULL;
    while (fifo && fgetc(fifo) != EOF) {
    }
    return 0;
}
