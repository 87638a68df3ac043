/* Collects the problems of a file, or the warnings, in any order, and sorts them by position. */
#ifndef BS_POLICY_FILE_PROBLEMS_H
#define BS_POLICY_FILE_PROBLEMS_H

#include <stdbool.h>

#include <boxspec/policy.h>

/* A JSON pointer as a chain from its last part to its first. The parts are on the stack of the
 * functions that walk through the tree. The pointer becomes text only if there is a problem. */
struct bs_pointer {
    const struct bs_pointer *up; /* the part before this one; NULL: this is the whole file */
    const char *name;            /* NULL: this part is an index of a list */
    size_t len;                  /* length of name */
    size_t index;
};

struct bs_place {
    uint32_t line;
    uint32_t column;
};

struct bs_problems {
    struct bs_arena *arena; /* memory of the list and all texts; made with the first problem */
    struct bs_policy_problem *items;
    size_t n;
    size_t room;
    enum bs_policy_source source; /* the file of the problems that the next calls add */
    bool failed;                  /* memory ran out, so problems are missing */
    /* pointer of the list to which the last item belongs, as text; reused for the next item of that
     * list */
    const char *list;
    size_t list_len;
    /* this and the next field identify that list and its profile; they are compared as pointers,
     * not as texts */
    const char *list_name;
    const char *list_owner;
};

/* Add a problem or a warning. `code` and `message` are static; code is NULL for a problem. */
void bs_problems_add(struct bs_problems *problems, struct bs_place place,
                     const struct bs_pointer *pointer, const char *code, const char *message);
/* As bs_problems_add, for an item of a list. The pointer of the list is written only once for all
 * items. */
void bs_problems_add_item(struct bs_problems *problems, struct bs_place place,
                          const struct bs_pointer *list, size_t index, const char *code,
                          const char *message);
void bs_problems_addf(struct bs_problems *problems, struct bs_place place,
                      const struct bs_pointer *pointer, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void bs_problems_clear(struct bs_problems *problems);

/* Sort by file, line and column. */
void bs_problems_sort(struct bs_problems *problems);

#endif
