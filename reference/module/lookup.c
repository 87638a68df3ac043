#define _GNU_SOURCE
#include "module/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/access.h"

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool bs_module_id_is_valid(const char *id) {
    if (!is_word(id[0]) || strstr(id, "..") != NULL)
        return false;
    for (; *id != '\0'; id++) {
        if (!is_word(*id) && *id != '.' && *id != '-')
            return false;
    }
    return true;
}

char *bs_module_root(const char *given) {
    const char *root = given != NULL ? given : getenv(BS_MODULE_ROOT);
    if (root == NULL || root[0] == '\0')
        root = "./extensions";
    if (root[0] == '/')
        return strdup(root);
    char *here = getcwd(NULL, 0);
    char *made = NULL;
    if (here != NULL && asprintf(&made, "%s/%s", here, root) < 0)
        made = NULL;
    free(here);
    return made;
}

static bool is_inside(const char *file, const char *folder) {
    size_t len = strlen(folder);
    if (strncmp(file, folder, len) != 0)
        return false;
    return file[len] == '/' || strcmp(folder, "/") == 0;
}

static bool is_executable(const char *file) {
    struct stat st;
    return stat(file, &st) == 0 && S_ISREG(st.st_mode) && bs_may_execute(AT_FDCWD, file) == 0;
}

char *bs_module_find(const char *root, const char *id) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", root, id) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    char *file = realpath(path, NULL);
    char *folder = file != NULL ? realpath(root, NULL) : NULL;
    if (folder == NULL || !is_inside(file, folder) || !is_executable(file)) {
        bool no_memory = errno == ENOMEM;
        free(file);
        file = NULL;
        errno = no_memory ? ENOMEM : ENOENT;
    }
    free(folder);
    free(path);
    return file;
}
