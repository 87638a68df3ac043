#define _GNU_SOURCE
#include "backend/plan/access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/plan/aliases.h"
#include "backend/plan/profile.h"
#include "backend/plan/rule_words.h"
#include "backend/plan/symlink_names.h"
#include "backend/plan/walk.h"
#include "backend/session/context.h"
#include "base/error.h"
#include "base/list.h"
#include "base/sys.h"

bool bs_root_is_writable(const struct bs_backend_context *context) {
    return context->confine != BS_CONFINE_READ_ONLY;
}

const char *bs_below_root(const struct bs_backend_context *context, const char *real) {
    size_t len = strlen(context->root);
    if (!bs_is_below(real, context->root))
        return NULL;
    return real[len] == '/' ? real + len + 1 : real + len;
}

/* True for a pipe or a socket. Programs can write to it even on a read-only mount, so it must be
 * hidden even if the policy allows reading it. */
static bool is_channel(const struct stat *st) {
    return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode);
}

static enum bs_access access_of(bool reads, bool writes, const struct stat *st) {
    if (!reads || (!writes && is_channel(st)))
        return BS_HIDDEN;
    return writes ? BS_OPEN : BS_READ_ONLY;
}

/* Return the access that the policy requires of a name. For a directory this is the access of a
 * file that is newly created in it. */
static enum bs_access access_of_name(const struct bs_names *names, const char *relative,
                                     const struct stat *st) {
    const struct bs_profile *profile = names->profile;
    const char *path = relative[0] != '\0' ? relative : ".";
    bool is_dir = S_ISDIR(st->st_mode);
    bool reads = bs_profile_allows(profile, BS_OP_READ, path) &&
                 (!is_dir || bs_profile_allows_new(profile, BS_OP_READ, relative));
    bool writes = bs_root_is_writable(names->context) &&
                  (is_dir ? bs_profile_allows_new(profile, BS_OP_MODIFY, relative)
                          : bs_profile_allows(profile, BS_OP_MODIFY, path));
    return access_of(reads, writes, st);
}

bool bs_names_denying(const struct bs_names *names, enum bs_op op, const char *relative,
                      bool is_dir, const struct bs_entry **entry) {
    char *below = NULL;
    *entry = NULL;
    if (op == BS_OP_MODIFY && !bs_root_is_writable(names->context))
        return true; /* the whole workspace is read-only, so the rule denies nothing more */
    if (!bs_profile_denying(names->profile, op, relative, entry))
        return false;
    if (*entry != NULL || !is_dir)
        return true;
    if (asprintf(&below, "%s/" BS_NEW_NAME, relative) < 0)
        return false;
    bool good = bs_profile_denying(names->profile, op, below, entry);
    free(below);
    return good;
}

/* True if no more names may be searched. */
static bool is_late(struct bs_names *names) {
    if (bs_now_ns() < names->until)
        return false;
    names->incomplete = true;
    return true;
}

/* Call `each` for every name that links give the path, unless the time is over. Returns false if
 * memory ran out. */
static bool each_linked_name(struct bs_names *names, const char *relative,
                             void (*each)(void *ctx, const char *name, bool replaceable),
                             void *ctx) {
    if (names->links.n == 0 || is_late(names))
        return true;
    int os_error = bs_linked_names(&names->links, relative, each, ctx);
    if (os_error != 0)
        names->incomplete = true;
    return os_error != ENOMEM;
}

/* A search for a rule that denies a link under one of its names. */
struct link_search {
    const struct bs_names *names;
    enum bs_op op;
    struct bs_link_denial denial;
    bool out_of_memory;
};

static void add_link_name(void *ctx, const char *name, bool replaceable) {
    struct link_search *search = ctx;
    const struct bs_names *names = search->names;
    const struct bs_entry *entry = NULL;
    if (!bs_names_denying(names, search->op, name, true, &entry))
        search->out_of_memory = true;
    if (entry == NULL && (search->op == BS_OP_READ || bs_root_is_writable(names->context)))
        entry = bs_rule_below(names->words, search->op, name);
    if (entry == NULL)
        return;
    if (search->denial.entry == NULL)
        search->denial.entry = entry;
    if (replaceable)
        search->denial.replaceable = entry;
}

bool bs_names_denying_link(struct bs_names *names, enum bs_op op, const char *relative,
                           struct bs_link_denial *denial) {
    struct link_search search = {.names = names, .op = op};
    add_link_name(&search, relative, false);
    bool good = each_linked_name(names, relative, add_link_name, &search);
    *denial = search.denial;
    return good && !search.out_of_memory;
}

struct search {
    const struct bs_names *names;
    const struct stat *st;
    struct bs_path_access *required;
};

static void add_name(void *ctx, const char *name, bool replaceable) {
    const struct search *search = ctx;
    struct bs_path_access *required = search->required;
    bool is_dir = S_ISDIR(search->st->st_mode);
    const struct bs_entry *denying[] = {NULL, NULL};
    bool good = bs_names_denying(search->names, BS_OP_READ, name, is_dir, &denying[BS_OP_READ]) &&
                bs_names_denying(search->names, BS_OP_MODIFY, name, is_dir, &denying[BS_OP_MODIFY]);
    /* without memory the name counts as denied */
    enum bs_access access = access_of(good && denying[BS_OP_READ] == NULL,
                                      good && denying[BS_OP_MODIFY] == NULL, search->st);
    if (access > required->access)
        required->access = access;
    for (size_t op = 0; op < 2; op++) {
        if (denying[op] != NULL)
            required->rules[op] = denying[op];
    }
    if (replaceable && denying[BS_OP_MODIFY] != NULL)
        required->replaceable = denying[BS_OP_MODIFY];
}

static struct bs_path_access without_hard_links(struct bs_names *names, const char *relative,
                                                const struct stat *st) {
    struct bs_path_access required = {access_of_name(names, relative, st), {NULL, NULL}, NULL};
    struct search search = {names, st, &required};
    if (!each_linked_name(names, relative, add_name, &search))
        required.access = BS_HIDDEN;
    return required;
}

struct bs_path_access bs_names_access(struct bs_names *names, const char *relative,
                                      const struct stat *st) {
    struct bs_path_access required = without_hard_links(names, relative, st);
    required.access =
        (enum bs_access)bs_aliases_strictest(&names->aliases, st, (int)required.access);
    return required;
}

/* A file with several hard links. These files are stored until all symbolic links are known,
 * because each symbolic link may give them more names. */
struct hard_link {
    char *relative;
    struct stat st;
};

struct collection {
    struct bs_names *names;
    struct hard_link *list;
    size_t n;
    size_t cap;
};

static bool add_hard_link(struct collection *collection, const struct bs_walk_entry *at) {
    struct hard_link *list =
        bs_list_room(collection->list, collection->n, &collection->cap, sizeof *list);
    if (list == NULL)
        return false;
    collection->list = list;
    struct hard_link *one = &list[collection->n];
    *one = (struct hard_link){strdup(at->relative), *at->st};
    collection->n += one->relative != NULL;
    return one->relative != NULL;
}

static bool add_inner_link(struct bs_names *names, const char *relative, const char *target) {
    char *parent = strdup(relative);
    if (parent == NULL)
        return false;
    char *slash = strrchr(parent, '/');
    if (slash != NULL)
        *slash = '\0';
    bool replaceable =
        bs_root_is_writable(names->context) &&
        bs_profile_may_allow_new(names->profile, BS_OP_MODIFY, slash != NULL ? parent : "");
    bool good = bs_inner_links_add(&names->links, relative, target, replaceable);
    free(parent);
    return good;
}

static bool collect(void *ctx, const struct bs_walk_entry *at) {
    struct collection *collection = ctx;
    struct bs_names *names = collection->names;
    if (!S_ISLNK(at->st->st_mode))
        return !bs_has_other_names(at->st) || add_hard_link(collection, at);
    char *real = realpath(at->path, NULL);
    if (real == NULL)
        return errno != ENOMEM;
    const char *target = bs_below_root(names->context, real);
    bool good = target == NULL || !bs_link_is_relevant(names->words, at->relative, target) ||
                add_inner_link(names, at->relative, target);
    free(real);
    return good;
}

static bool sort_names(const struct collection *collection) {
    struct bs_names *names = collection->names;
    bool good = true;
    bs_inner_links_sort(&names->links);
    for (size_t i = 0; good && i < collection->n && !is_late(names); i++) {
        const struct hard_link *one = &collection->list[i];
        struct bs_path_access required = without_hard_links(names, one->relative, &one->st);
        good = bs_aliases_add(&names->aliases, &one->st, (int)required.access);
    }
    bs_aliases_sort(&names->aliases);
    return good;
}

/* If a directory of the workspace is also mounted in a second place of the workspace, count the
 * mount as a link from the second place to the first. The list has each pair in both orders. */
static bool add_mounted(struct bs_names *names) {
    int os_error = bs_mounted_names_find(names->context->root, &names->mounted);
    bool good = os_error != ENOMEM;
    if (os_error != 0)
        names->incomplete = true;
    for (size_t i = 0; good && i < names->mounted.n; i++) {
        const struct bs_mounted_name *name = &names->mounted.list[i];
        const char *path = bs_below_root(names->context, name->path);
        const char *other = bs_below_root(names->context, name->other);
        if (path != NULL && other != NULL)
            good = bs_inner_links_add(&names->links, other, path, false);
    }
    return good;
}

int bs_names_collect(struct bs_names *names, int cancel, struct bs_error *err) {
    struct collection collection = {.names = names};
    const struct bs_walk walk = {.root = names->context->root,
                                 .ctx = &collection,
                                 .enter = collect,
                                 .cancel = cancel,
                                 .cut = &names->incomplete,
                                 .until = names->until};
    bool good = bs_rule_words_make(names->profile, &names->words) == 0 && add_mounted(names);
    int code = good ? bs_walk_tree(&walk, err) : BS_OK;
    if (code == BS_OK && !(good && sort_names(&collection)))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for the names of a workspace");
    for (size_t i = 0; i < collection.n; i++)
        free(collection.list[i].relative);
    free(collection.list);
    return code;
}

void bs_names_clear(struct bs_names *names) {
    bs_rule_words_free(names->words);
    bs_inner_links_clear(&names->links);
    bs_aliases_clear(&names->aliases);
    bs_mounted_names_clear(&names->mounted);
}
