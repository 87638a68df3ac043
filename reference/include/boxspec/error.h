/* Errors of the boxspec library.
 *
 * Every function that can fail returns 0 or one of the negative codes below. If it takes a
 * `struct bs_error *`, it fills that with a message for people; the pointer may be NULL. errno is
 * never part of an interface: `os_error` has the number of a system error, if there was one.
 *
 * A struct bs_error owns no memory; it may be copied and reused, and needs no clearing.
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
    BS_E_EXECUTION = -1, /* the call could not be carried out */
    BS_E_DENIED = -2,    /* a sandbox refused the request; no program was started */
    BS_E_INVALID = -3,   /* the request itself is wrong */
    BS_E_IO = -4         /* a file could not be used; for streams of the child: BS_E_EXECUTION */
};

struct bs_error {
    int code;           /* an enum bs_code */
    int os_error;       /* errno of the failing call, or 0 */
    char message[2048]; /* one line, NUL-terminated; UTF-8 if the names in it are */
};

#define BS_ERROR_INIT                                                                              \
    {                                                                                              \
        0, 0, { 0 }                                                                                \
    }

#ifdef __cplusplus
}
#endif
#endif
