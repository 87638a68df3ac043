#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "shim/answers.h"
#include "support/holdings.h"

/* The length of the reads that fail. `read_until` reads single bytes, and `read_eof` reads some
 * thousand at once, so the length selects one of these functions. */
static size_t fails_at_len;

ssize_t __real_read(int fd, void *data, size_t len);
ssize_t __wrap_read(int fd, void *data, size_t len);

ssize_t __wrap_read(int fd, void *data, size_t len) {
    if (fails_at_len == 0 || (fails_at_len == 1 ? len != 1 : len < fails_at_len))
        return __real_read(fd, data, len);
    errno = EIO;
    return -1;
}

static char *answer_to_script(const char *last_step) {
    struct bs_policies policies = {.n_compiled = 0};
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    char request[512];
    (void)snprintf(request, sizeof request,
                   "{\"id\":\"1\",\"op\":\"process.script\",\"handles\":{\"a\":{\"request\":"
                   "{\"program\":\"echo\",\"args\":[\"hi\"]},\"stderr\":2}},\"steps\":["
                   "{\"step\":\"open\",\"handle\":\"a\"},%s]}",
                   last_step);
    (void)bs_dispatch(request, strlen(request), BS_MODE_RUN, &policies, &out);
    assert_false(out.text.failed);
    bs_buf_char(&out.text, '\0');
    bs_policies_clear(&policies);
    return out.text.data;
}

static void assert_result_has(const char *step, const char *words) {
    char *answer = answer_to_script(step);
    if (strstr(answer, words) == NULL)
        fail_msg("no %s in %s", words, answer);
    free(answer);
}

#define UNTIL "{\"step\":\"read_until\",\"handle\":\"a\",\"stream\":\"stdout\",\"until\":\"\\n\"}"
#define TO_THE_END "{\"step\":\"read_eof\",\"handle\":\"a\",\"stream\":\"stdout\"}"

static void a_failed_read_is_not_end_of_output(void **state) {
    (void)state;
    fails_at_len = 0;
    assert_result_has(UNTIL, "{\"data_b64\":\"aGkK\",\"eof\":false}");
    fails_at_len = 1;
    assert_result_has(UNTIL, "\"eof\":false,\"errno\":\"EIO\"}");
    fails_at_len = 4096;
    assert_result_has(TO_THE_END, ",\"errno\":\"EIO\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {leaves_nothing(a_failed_read_is_not_end_of_output)};
    return cmocka_run_group_tests_name("shim/process_script", tests, NULL, NULL);
}
