/* Finds the strictest access that a policy requires of a file under any of its hard links. Add all
 * files, sort once, then look up. The larger of two access values is the stricter one. */
#ifndef BS_BACKEND_PLAN_ALIASES_H
#define BS_BACKEND_PLAN_ALIASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct bs_alias {
    uint64_t device;
    uint64_t inode;
    int access;
};

struct bs_aliases {
    struct bs_alias *list;
    size_t n;
    size_t cap;
};
#define BS_ALIASES_INIT                                                                            \
    { NULL, 0, 0 }

bool bs_has_other_names(const struct stat *st);

/* Add a file that has other names. Returns false if memory ran out. */
bool bs_aliases_add(struct bs_aliases *aliases, const struct stat *st, int access);
void bs_aliases_sort(struct bs_aliases *aliases);

/* Return the stricter one of `access` and the access of the file's other names. */
int bs_aliases_strictest(const struct bs_aliases *aliases, const struct stat *st, int access);
void bs_aliases_clear(struct bs_aliases *aliases);

#endif
