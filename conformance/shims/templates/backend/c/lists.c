/* Lists of words, the environment, and new folders. This file needs no change. */
#define _GNU_SOURCE
#include "shim.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char **joined(const char *const *first, char **second) {
    size_t count = 0, more = 0;
    while (first[count])
        count++;
    while (second[more])
        more++;
    char **words = allocate((count + more + 1) * sizeof *words);
    memcpy(words, first, count * sizeof *words);
    memcpy(words + count, second, more * sizeof *words);
    return words;
}

static bool is_passed(const char *variable) {
    static const char *const names[] = {
        "PATH=", "HOME=", "USER=", "LOGNAME=", "SHELL=", "TZ=", "LANG=", "LC_", "LANGUAGE="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

char **environment(const cJSON *request, const char *scratch) {
    const cJSON *env = field(request, "env"), *set = field(env, "clear_and_set"), *each;
    size_t count = (size_t)cJSON_GetArraySize(set), own = 0;
    while (environ[own])
        own++;
    char **given = allocate((count + own + 2) * sizeof *given), **next = given;
    cJSON_ArrayForEach(each, set) {
        const char *start = format("%s=", cJSON_GetArrayItem(each, 0)->valuestring);
        char **at = given; /* of a variable that is given twice the last value counts */
        while (at < next && strncmp(*at, start, strlen(start)) != 0)
            at++;
        next += at == next && strcmp(start, "TMPDIR=") != 0;
        *at = format("%s%s", start, cJSON_GetArrayItem(each, 1)->valuestring);
    }
    for (char **at = environ; *at && !cJSON_IsObject(env); at++)
        if (is_passed(*at))
            *next++ = *at;
    *next = format("TMPDIR=%s", scratch);
    return given;
}

char *new_folder(const char *kind) {
    const char *base = getenv("TMPDIR");
    return mkdtemp(format("%s/%s-XXXXXX", base ? base : "/tmp", kind));
}

static int removed(const char *path, const struct stat *of, int kind, struct FTW *at) {
    (void)of, (void)kind, (void)at;
    return remove(path), 0;
}

void remove_folder(const char *folder) { nftw(folder, removed, 64, FTW_DEPTH | FTW_PHYS); }
