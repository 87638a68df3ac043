/* Errors of the boxspec library.
 *
 * Every function that can fail returns 0 or one of the negative codes below and, where it takes a
 * `struct bs_error *`, fills it with a message for people. The pointer may be NULL. errno is never
 * part of an interface: `os_error` carries the system's number where there was one.
 *
 * A struct bs_error owns nothing; it may be copied, reused and forgotten.
 */
#ifndef BOXSPEC_ERROR_H
#define BOXSPEC_ERROR_H

#if defined(__GNUC__)
#define BS_EXPORT __attribute__((visibility("default")))
#else
#define BS_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum bs_code {
    BS_OK = 0,
    BS_E_EXECUTION = -1, /* the run could not be carried out */
    BS_E_DENIED = -2,    /* a sandbox refused the request; nothing was started */
    BS_E_INVALID = -3,   /* the request itself is wrong */
    BS_E_IO = -4         /* a file or stream that is not the child's could not be used */
};

struct bs_error {
    int code;           /* an enum bs_code */
    int os_error;       /* errno of the failing call, or 0 */
    char message[2048]; /* UTF-8 as far as the names in it are, NUL-terminated, one line */
};

#define BS_ERROR_INIT                                                                              \
    {                                                                                              \
        0, 0, { 0 }                                                                                \
    }

#ifdef __cplusplus
}
#endif
#endif
