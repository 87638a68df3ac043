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

/* True under the thread sanitizer, to make tests shorter there: it finds no errors in code with a
 * single thread, and makes it ten times as slow. */
#if defined(__SANITIZE_THREAD__)
enum { SLOW_BUILD = 1 };
#else
enum { SLOW_BUILD = 0 };
#endif

#endif
