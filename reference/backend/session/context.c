#define _GNU_SOURCE
#include "backend/session/context.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/session/links.h"
#include "base/error.h"

static bool is_below_root(const char *link, const void *root) { return bs_is_below(link, root); }

bool bs_context_cache(const char *root, char **cache) {
    const char *home = getenv("HOME");
    char *path = NULL;
    *cache = NULL;
    if (home == NULL || home[0] != '/')
        return true;
    if (asprintf(&path, "%s/.cache", home) < 0)
        return false;
    char *real = realpath(path, NULL);
    bool good = real != NULL || errno != ENOMEM;
    if (root == NULL || real == NULL ||
        (!bs_is_below(real, root) && !bs_link_may_be_replaced(path, is_below_root, root)))
        *cache = real;
    else
        free(real);
    free(path);
    return good;
}

bool bs_is_below(const char *path, const char *dir) {
    size_t len = strlen(dir);
    if (len == 1) /* the path is "/" */
        return path[0] == '/';
    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

bool bs_confine_has_network(enum bs_confine confine) {
    return confine != BS_CONFINE_NO_NETWORK && confine != BS_CONFINE_CI_ONLY;
}

enum bs_network bs_context_network(const struct bs_backend_context *context) {
    if (!bs_confine_has_network(context->confine))
        return BS_NET_NONE;
    for (size_t i = 0; i < context->n_egress; i++) {
        if (strcmp(context->egress[i], "*") == 0)
            return BS_NET_OPEN;
    }
    return context->n_egress > 0 ? BS_NET_LIST : BS_NET_OPEN;
}

bool bs_context_requests(const struct bs_backend_context *context, enum bs_aspect aspect,
                         bool denies_reading) {
    switch (aspect) {
    case BS_ASPECT_FS_WRITE:
    case BS_ASPECT_FS_METADATA:
    case BS_ASPECT_PROCESS:
        return true;
    case BS_ASPECT_FS_READ:
        return denies_reading;
    case BS_ASPECT_NETWORK:
        return context->n_egress > 0 || !bs_confine_has_network(context->confine);
    case BS_ASPECT_IPC:
        return context->confine == BS_CONFINE_CI_ONLY;
    default:
        return false;
    }
}

/* Return the port, or 0 unless the text consists of digits with a value from 1 to 65535. */
static unsigned port_of(const char *text) {
    unsigned port = 0;
    size_t n = strlen(text);
    if (n == 0 || n > 5)
        return 0;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return 0;
        port = port * 10 + (unsigned)(*text - '0');
    }
    return port <= 65535 ? port : 0;
}

static bool is_host(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && c != '-' && c != '.' && c != '_')
            return false;
    }
    return len > 0 && len <= 253 && text[0] != '-' && text[0] != '.';
}

static bool is_address(const char *text, size_t len) {
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return inet_pton(AF_INET6, copy, &address) == 1;
}

static bool is_egress(const char *entry) {
    if (strcmp(entry, "*") == 0)
        return true;
    const char *colon = strrchr(entry, ':');
    if (colon == NULL || port_of(colon + 1) == 0)
        return false;
    size_t len = (size_t)(colon - entry);
    if (len > 2 && entry[0] == '[' && colon[-1] == ']')
        return is_address(entry + 1, len - 2);
    return is_host(entry, len);
}

unsigned bs_egress_port(const char *entry) {
    const char *colon = strrchr(entry, ':');
    return colon != NULL ? port_of(colon + 1) : 0;
}

int bs_context_check(const struct bs_backend_context *context, struct bs_error *err) {
    for (size_t i = 0; i < context->n_egress; i++) {
        if (!is_egress(context->egress[i]))
            return bs_fail(err, BS_E_INVALID, 0,
                           "egress: `%.400s`: write host:port, [address]:port or *, with a port "
                           "from 1 to 65535",
                           context->egress[i]);
    }
    if (context->n_egress > 0 && !bs_confine_has_network(context->confine))
        return bs_fail(err, BS_E_INVALID, 0,
                       "egress: %s has no network; remove the list, or use repo-write",
                       bs_confine_name(context->confine));
    return BS_OK;
}

static int real_dir(const char *name, const char *path, char **real, struct bs_error *err) {
    struct stat st;
    char buf[128];
    if (path == NULL || path[0] != '/')
        return bs_fail(err, BS_E_INVALID, 0, "%s: write an absolute path", name);
    *real = realpath(path, NULL);
    if (*real == NULL || stat(*real, &st) != 0) {
        int os_error = errno;
        return bs_fail(err, os_error == ENOMEM ? BS_E_EXECUTION : BS_E_INVALID, os_error,
                       "%s: `%.900s`: %s; name an existing directory", name, path,
                       bs_os_message(os_error, buf, sizeof buf));
    }
    if (!S_ISDIR(st.st_mode))
        return bs_fail(err, BS_E_INVALID, ENOTDIR, "%s: `%.900s` is not a directory", name, path);
    return BS_OK;
}

void bs_context_clear(struct bs_resolved_context *resolved) {
    free(resolved->root);
    free(resolved->cwd);
    *resolved = (struct bs_resolved_context){.root = NULL};
}

/* True for /proc, /sys and similar directories. Their files are interfaces of the kernel, and a
 * sandbox mounts its own directories over them. */
static bool is_system_dir(const char *root) {
    return strcmp(root, "/") == 0 || strcmp(root, "/dev") == 0 || bs_is_below(root, "/proc") ||
           bs_is_below(root, "/sys") || bs_is_below(root, "/dev/pts") ||
           bs_is_below(root, "/dev/mqueue");
}

int bs_context_resolve(const struct bs_backend_context *given, struct bs_resolved_context *resolved,
                       struct bs_error *err) {
    *resolved = (struct bs_resolved_context){.context = *given};
    int code = bs_context_check(given, err);
    if (code == BS_OK)
        code = real_dir("root", given->root, &resolved->root, err);
    if (code == BS_OK && is_system_dir(resolved->root))
        code = bs_fail(err, BS_E_INVALID, 0,
                       "root: `%.900s` is not a workspace; name a directory that holds files",
                       resolved->root);
    if (code == BS_OK && given->cwd != NULL)
        code = real_dir("cwd", given->cwd, &resolved->cwd, err);
    if (code == BS_OK && given->cwd != NULL && !bs_is_below(resolved->cwd, resolved->root))
        code =
            bs_fail(err, BS_E_INVALID, 0,
                    "cwd: `%.900s` lies outside of the root; name a directory in it", given->cwd);
    if (code != BS_OK) {
        bs_context_clear(resolved);
        return code;
    }
    resolved->context.root = resolved->root;
    resolved->context.cwd = resolved->cwd;
    return BS_OK;
}

int bs_context_check_dir(const struct bs_backend_context *context, const char *dir,
                         struct bs_error *err) {
    if (dir == NULL)
        return BS_OK;
    errno = 0;
    char *real = realpath(dir, NULL);
    char *root = errno != ENOMEM ? realpath(context->root, NULL) : NULL;
    char *cwd = errno != ENOMEM && context->cwd != NULL ? realpath(context->cwd, NULL) : NULL;
    int code = BS_OK;
    if (errno == ENOMEM)
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for `%.900s`", dir);
    else if (dir[0] != '/')
        code = bs_fail(err, BS_E_INVALID, 0,
                       "current_dir: `%.900s`: inside a sandbox it must be an absolute path", dir);
    else if (real != NULL && root != NULL && !bs_is_below(real, root))
        code = bs_fail(err, BS_E_INVALID, 0,
                       "current_dir: `%.900s` lies outside of the root of the sandbox", dir);
    else if (context->cwd != NULL &&
             (real == NULL || cwd == NULL ? strcmp(dir, context->cwd) : strcmp(real, cwd)) != 0)
        code = bs_fail(err, BS_E_INVALID, 0,
                       "current_dir: `%.900s` is not the cwd of the sandbox, `%.900s`; give one of "
                       "them",
                       dir, context->cwd);
    free(real);
    free(root);
    free(cwd);
    return code;
}
