/* cmocka with the headers that it needs first. An assertion leaves the test by longjmp, so use it
 * only on the main thread. */
#ifndef BS_TESTS_HARNESS_H
#define BS_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Under the thread sanitizer single-threaded code shows no new errors and takes ten times as
 * long. */
#if defined(__SANITIZE_THREAD__)
enum { SLOW_BUILD = 1 };
#else
enum { SLOW_BUILD = 0 };
#endif

#endif
