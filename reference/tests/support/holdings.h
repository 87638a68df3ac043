/* Counts the resources that a run could leave: descriptors, threads and children. */
#ifndef BS_TESTS_HOLDINGS_H
#define BS_TESTS_HOLDINGS_H

#include <stdbool.h>

struct holdings {
    unsigned descriptors;
    unsigned threads;
};

struct holdings holdings_now(void);

/* Fail the test if a descriptor, a thread or a child exists that did not exist when `before` was
 * counted. */
void assert_nothing_left(struct holdings before);

/* True if the process has a child, zombies included. */
bool has_children(void);

/* Return the lowest number from which on all descriptors are free. */
int first_free_above_all(void);

/* A test that must leave no resources. The set-up and tear-down check this. */
#define leaves_nothing(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, remember_holdings, assert_nothing_left_since)

int remember_holdings(void **state);
int assert_nothing_left_since(void **state);

#endif
