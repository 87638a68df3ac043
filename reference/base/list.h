/* Arrays that grow by one element at a time. */
#ifndef BS_BASE_LIST_H
#define BS_BASE_LIST_H

#include <stddef.h>
#include <stdlib.h>

/* Returns `list`, which has n elements and room for *cap, or a larger copy in its place if it is
 * full: there is room for one more element. NULL: out of memory, and the list is unchanged. */
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
