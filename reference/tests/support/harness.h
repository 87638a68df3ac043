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

#endif
