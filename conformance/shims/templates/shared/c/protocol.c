/* Answers to messages. This file needs no change. */
#include "protocol.h"

#include <string.h>
#include <unistd.h>

const char *request_text;

cJSON *result(cJSON *value) {
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddItemToObject(answer, "result", value);
    return answer;
}

cJSON *failed(const char *kind, const char *message) {
    cJSON *answer = cJSON_CreateObject(), *error = cJSON_AddObjectToObject(answer, "error");
    cJSON_AddStringToObject(error, "kind", kind);
    cJSON_AddStringToObject(error, "message", message);
    return answer;
}

cJSON *unsupported(const char *capability, const char *why) {
    cJSON *answer = cJSON_CreateObject(), *told = cJSON_AddObjectToObject(answer, "unsupported");
    cJSON_AddStringToObject(told, "capability", capability);
    cJSON_AddStringToObject(told, "why", why);
    return answer;
}

cJSON *refuse_others(const cJSON *given, const char *known, const char *capability) {
    const char *names = format(" %s ", known);
    const cJSON *each;
    cJSON_ArrayForEach(each, given) {
        if (!strstr(names, format(" %s ", each->string)))
            return unsupported(capability, format("unknown field: %s", each->string));
    }
    return NULL;
}

static cJSON *greeting(const cJSON *message) {
    cJSON *told = cJSON_Parse(hello);
    cJSON_AddNumberToObject(told, "protocol", 1);
    cJSON_AddItemToObject(told, "nonce", cJSON_Duplicate(field(message, "nonce"), true));
    cJSON_AddNumberToObject(told, "pid", getpid());
    return result(told);
}

static cJSON *answer(const cJSON *message, bool serving) {
    const char *op = string(message, "op");
    if (!op)
        return failed("invalid_input", "the request is no object with an `op`");
    if (strcmp(op, "hello") == 0)
        return greeting(message);
    if (strcmp(op, "bye") == 0)
        return result(cJSON_CreateObject());
    const struct operation *each = operations;
    while (each->name && strcmp(each->name, op) != 0)
        each++;
    if (!each->name)
        return unsupported(op, "not in this shim");
    cJSON *refused = refuse_others(message, format("id op hold %s", each->fields), op);
    if (refused)
        return refused;
    if (serving && each->only_run(message))
        return failed("invalid_input", "programs are started in run mode only");
    return each->take(message);
}

const cJSON *reply(const char *line, bool serving, FILE *to) {
    request_text = line;
    cJSON *message = parsed(line), *said = answer(message, serving);
    const cJSON *id = field(message, "id");
    cJSON_AddItemToObject(said, "id", id ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
    fprintf(to, "%s\n", printed(said));
    fflush(to);
    return message;
}
