/* The resources of a process that a run could leave open. */
#ifndef BS_TESTS_HOLDINGS_H
#define BS_TESTS_HOLDINGS_H

#include <stdbool.h>

struct holdings {
    unsigned descriptors;
    unsigned threads;
};

struct holdings holdings_now(void);

/* Fail the test if a descriptor, a thread or any child was left since then. */
void assert_nothing_left(struct holdings before);

/* True while the process has a child, zombies included. */
bool has_children(void);

/* Return the lowest number from which on every descriptor is free. */
int first_free_above_all(void);

/* A test that must leave no resources; cmocka's set-up and tear-down check that. */
#define leaves_nothing(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, remember_holdings, assert_nothing_left_since)

int remember_holdings(void **state);
int assert_nothing_left_since(void **state);

#endif
