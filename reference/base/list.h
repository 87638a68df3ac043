/* Arrays that grow by one element at a time. */
#ifndef BS_BASE_LIST_H
#define BS_BASE_LIST_H

#include <stddef.h>
#include <stdlib.h>

/* Return an array with room for one more element: `list` itself, or a larger copy of it if its *cap
 * elements are all in use. NULL if memory ran out; `list` is unchanged then. */
static inline void *bs_list_room(void *list, size_t n, size_t *cap, size_t size) {
    if (n < *cap)
        return list;
    size_t more = *cap > 0 ? *cap * 2 : 16;
    void *grown = realloc(list, more * size);
    if (grown != NULL)
        *cap = more;
    return grown;
}

#endif
