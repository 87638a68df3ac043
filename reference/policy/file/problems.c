#include "policy/file/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Room for the one problem that a refused file usually has: its pointer and message fit into the
 * first block. */
enum { FIRST_ROOM = 4, GROWTH = 4, FIRST_BYTES = 512, INDEX_DIGITS = 24 };

/* Write a number at the end of `digits` and return its length. */
static size_t index_text(size_t index, char digits[INDEX_DIGITS]) {
    size_t len = 0;
    do {
        digits[INDEX_DIGITS - ++len] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    return len;
}

static size_t part_size(const struct bs_pointer *part) {
    char digits[INDEX_DIGITS];
    if (part->name == NULL)
        return 1 + index_text(part->index, digits);
    size_t size = 1 + part->len;
    for (size_t i = 0; i < part->len; i++)
        size += part->name[i] == '~' || part->name[i] == '/';
    return size;
}

/* Write one part of a pointer so that it ends at `end`. Returns the start of the part. */
static char *put_part(char *end, const struct bs_pointer *part) {
    char digits[INDEX_DIGITS];
    if (part->name == NULL) {
        size_t len = index_text(part->index, digits);
        end -= len;
        memcpy(end, digits + INDEX_DIGITS - len, len);
    }
    for (size_t i = part->name != NULL ? part->len : 0; i > 0; i--) {
        char c = part->name[i - 1];
        if (c == '~' || c == '/') {
            *--end = c == '~' ? '0' : '1';
            c = '~';
        }
        *--end = c;
    }
    *--end = '/';
    return end;
}

static bool has_arena(struct bs_problems *problems) {
    if (problems->arena == NULL)
        problems->arena = bs_arena_new(FIRST_BYTES);
    return problems->arena != NULL;
}

static const char *pointer_text(struct bs_problems *problems, const struct bs_pointer *pointer) {
    if (pointer == NULL)
        return "";
    if (!has_arena(problems))
        return NULL;
    size_t size = 0;
    for (const struct bs_pointer *part = pointer; part != NULL; part = part->up)
        size += part_size(part);
    char *text = bs_arena_bytes(problems->arena, size + 1);
    if (text == NULL)
        return NULL;
    text[size] = '\0';
    char *end = text + size;
    for (const struct bs_pointer *part = pointer; part != NULL; part = part->up)
        end = put_part(end, part);
    return text;
}

static bool has_room(struct bs_problems *problems) {
    if (problems->n < problems->room)
        return true;
    if (!has_arena(problems))
        return false;
    bool first = problems->room == 0;
    size_t room = first ? FIRST_ROOM : problems->room * GROWTH;
    size_t size = room * sizeof *problems->items;
    struct bs_policy_problem *grown =
        first ? bs_arena_take(problems->arena, size) : bs_arena_own_chunk(problems->arena, size);
    if (grown == NULL)
        return false;
    if (problems->n > 0)
        memcpy(grown, problems->items, problems->n * sizeof *grown);
    problems->items = grown;
    problems->room = room;
    return true;
}

static void add(struct bs_problems *problems, struct bs_place place, const char *pointer,
                const char *code, const char *message) {
    if (pointer == NULL || message == NULL || !has_room(problems)) {
        problems->failed = true;
        return;
    }
    problems->items[problems->n++] = (struct bs_policy_problem){
        problems->source, place.line, place.column, code, pointer, message};
}

void bs_problems_add(struct bs_problems *problems, struct bs_place place,
                     const struct bs_pointer *pointer, const char *code, const char *message) {
    add(problems, place, pointer_text(problems, pointer), code, message);
}

static bool remember_list(struct bs_problems *problems, const struct bs_pointer *list) {
    const char *owner = list->up != NULL ? list->up->name : NULL;
    if (problems->list != NULL && problems->list_name == list->name &&
        problems->list_owner == owner)
        return true;
    problems->list = pointer_text(problems, list);
    if (problems->list == NULL)
        return false;
    problems->list_len = strlen(problems->list);
    problems->list_name = list->name;
    problems->list_owner = owner;
    return true;
}

void bs_problems_add_item(struct bs_problems *problems, struct bs_place place,
                          const struct bs_pointer *list, size_t index, const char *code,
                          const char *message) {
    char digits[INDEX_DIGITS];
    size_t len = index_text(index, digits);
    char *text = NULL;
    if (remember_list(problems, list))
        text = bs_arena_bytes(problems->arena, problems->list_len + 1 + len + 1);
    if (text != NULL) {
        memcpy(text, problems->list, problems->list_len);
        text[problems->list_len] = '/';
        memcpy(text + problems->list_len + 1, digits + INDEX_DIGITS - len, len);
        text[problems->list_len + 1 + len] = '\0';
    }
    add(problems, place, text, code, message);
}

void bs_problems_addf(struct bs_problems *problems, struct bs_place place,
                      const struct bs_pointer *pointer, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t size = (size_t)len < sizeof message ? (size_t)len : sizeof message - 1;
    const char *kept = has_arena(problems) ? bs_arena_text(problems->arena, message, size) : NULL;
    bs_problems_add(problems, place, pointer, NULL, kept);
}

void bs_problems_clear(struct bs_problems *problems) {
    bs_arena_free(problems->arena);
    *problems = (struct bs_problems){0};
}

static int by_number(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int by_place(const void *a, const void *b) {
    const struct bs_policy_problem *x = a;
    const struct bs_policy_problem *y = b;
    int order = by_number(x->source, y->source);
    if (order == 0)
        order = by_number(x->line, y->line);
    if (order == 0)
        order = by_number(x->column, y->column);
    if (order == 0)
        order = strcmp(x->pointer, y->pointer);
    return order != 0 ? order : strcmp(x->message, y->message);
}

void bs_problems_sort(struct bs_problems *problems) {
    /* Problems are mostly found in the order of the file, so a large part of the list is usually
     * sorted already. */
    size_t sorted = 1;
    while (sorted < problems->n &&
           by_place(&problems->items[sorted - 1], &problems->items[sorted]) <= 0)
        sorted++;
    if (sorted < problems->n)
        qsort(problems->items, problems->n, sizeof *problems->items, by_place);
}
