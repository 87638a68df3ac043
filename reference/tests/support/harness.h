/* cmocka with the headers that it wants to find before itself. An assertion leaves the test by
 * longjmp, so it belongs on the main thread only. */
#ifndef BS_TESTS_HARNESS_H
#define BS_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Under the thread sanitizer code of one thread shows nothing new and takes ten times as long. */
#if defined(__SANITIZE_THREAD__)
enum { SLOW_BUILD = 1 };
#else
enum { SLOW_BUILD = 0 };
#endif

#endif
