/* Includes cmocka with the headers that it needs. An assertion leaves the test by longjmp, so use
 * assertions only on the main thread. */
#ifndef BS_TESTS_HARNESS_H
#define BS_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* True under the thread sanitizer. Tests with a single thread are shorter then: the sanitizer finds
 * no errors in them, and makes them ten times as slow. */
#if defined(__SANITIZE_THREAD__)
enum { SLOW_BUILD = 1 };
#else
enum { SLOW_BUILD = 0 };
#endif

#endif
