/* Problems of a file, or warnings: collected in any order and reported by place. */
#ifndef BS_POLICY_FILE_PROBLEMS_H
#define BS_POLICY_FILE_PROBLEMS_H

#include <stdbool.h>

#include <boxspec/policy.h>

/* A JSON pointer as a chain from its last part to its first. The parts live on the stack of the
 * functions that walk down the tree; only a problem turns them into text. */
struct bs_pointer {
    const struct bs_pointer *up; /* NULL: the whole file */
    const char *name;            /* NULL: it is an item of a list */
    size_t len;                  /* of name */
    size_t index;
};

struct bs_place {
    uint32_t line;
    uint32_t column;
};

struct bs_problems {
    struct bs_arena *arena; /* of everything, the items too; made with the first problem */
    struct bs_policy_problem *items;
    size_t n;
    size_t room;
    enum bs_policy_source source; /* of the problems that are added */
    bool failed;                  /* memory ran out; something is missing */
    const char *list; /* the pointer of the list that an item was last added of, as text */
    size_t list_len;
    const char *list_name; /* of that list, and of its profile; compared as pointers */
    const char *list_owner;
};

/* `code` and `message` are static; code is NULL for a problem. */
void bs_problems_add(struct bs_problems *problems, struct bs_place place,
                     const struct bs_pointer *pointer, const char *code, const char *message);
/* The same about an item of a list. The pointer of the list is written once for all its items. */
void bs_problems_add_item(struct bs_problems *problems, struct bs_place place,
                          const struct bs_pointer *list, size_t index, const char *code,
                          const char *message);
void bs_problems_addf(struct bs_problems *problems, struct bs_place place,
                      const struct bs_pointer *pointer, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void bs_problems_clear(struct bs_problems *problems);

/* By file, line and column. */
void bs_problems_sort(struct bs_problems *problems);

#endif
