#include "base/buf.h"

#include <string.h>

#include "support/harness.h"

static void an_untouched_buffer_owns_nothing(void **state) {
    (void)state;
    struct bs_buf buf = BS_BUF_INIT;
    bs_buf_add(&buf, NULL, 0);
    struct bs_bytes bytes = bs_buf_take(&buf);
    assert_int_equal(bytes.len, 0);
    bs_bytes_clear(&bytes);
    bs_bytes_clear(&bytes);
    bs_buf_clear(&buf);
    bs_buf_clear(&buf);
    assert_null(buf.data);
}

static void bytes_keep_their_order_while_it_grows(void **state) {
    (void)state;
    static char expected[200000];
    struct bs_buf buf = BS_BUF_INIT;
    size_t at = 0;
    for (size_t piece = 0; at + piece < sizeof expected; piece++) {
        for (size_t i = 0; i < piece; i++)
            expected[at + i] = (char)((at + i) * 31 % 251);
        bs_buf_add(&buf, expected + at, piece);
        at += piece;
        assert_true(buf.cap > buf.len);
    }
    assert_false(buf.failed);
    assert_int_equal(buf.len, at);
    assert_memory_equal(buf.data, expected, at);
    bs_buf_clear(&buf);
}

static void single_bytes_cause_few_reallocations(void **state) {
    (void)state;
    struct bs_buf buf = BS_BUF_INIT;
    size_t cap = 0;
    unsigned growths = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        bs_buf_char(&buf, 'x');
        if (buf.cap != cap)
            growths++;
        cap = buf.cap;
    }
    assert_true(growths <= 14);
    assert_true(buf.cap <= 2 * 1024 * 1024);
    bs_buf_clear(&buf);
}

static void a_reservation_has_room_for_a_nul_as_well(void **state) {
    (void)state;
    for (size_t n = 0; n < 2050; n++) {
        struct bs_buf buf = BS_BUF_INIT;
        bs_buf_str(&buf, "ab");
        assert_true(bs_buf_reserve(&buf, n));
        assert_true(buf.cap >= 2 + n + 1);
        assert_int_equal(buf.len, 2);
        bs_buf_clear(&buf);
    }
}

static void a_size_that_cannot_exist_fails_and_stays_failed(void **state) {
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 3, SIZE_MAX - 4,
                                   SIZE_MAX / 2};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct bs_buf buf = BS_BUF_INIT;
        bs_buf_str(&buf, "abc");
        assert_false(bs_buf_reserve(&buf, sizes[i]));
        assert_true(buf.failed);
        assert_int_equal(buf.len, 3);
        assert_memory_equal(buf.data, "abc", 3);
        bs_buf_str(&buf, "d");
        bs_buf_u64(&buf, 1);
        assert_int_equal(buf.len, 3);
        assert_false(bs_buf_reserve(&buf, 0));
        bs_buf_clear(&buf);
        assert_false(buf.failed);
    }
}

static void an_overflowing_size_fails(void **state) {
    (void)state;
    struct bs_buf buf = BS_BUF_INIT;
    char byte = 'x';
    buf.data = &byte;
    buf.len = SIZE_MAX - 8; /* a length that a test cannot really allocate */
    buf.cap = SIZE_MAX;
    for (size_t more = 8; more < 32; more++) {
        buf.failed = false;
        assert_false(bs_buf_reserve(&buf, more));
    }
}

static void taken_text_ends_in_a_nul_and_leaves_the_buffer_empty(void **state) {
    (void)state;
    struct bs_buf buf = BS_BUF_INIT;
    bs_buf_add(&buf, "a\0b", 3);
    struct bs_bytes bytes = bs_buf_take(&buf);
    assert_int_equal(bytes.len, 3);
    assert_memory_equal(bytes.data, "a\0b", 4);
    assert_null(buf.data);
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf.cap, 0);
    bs_bytes_clear(&bytes);
    assert_null(bytes.data);
}

static void numbers_are_written_in_full(void **state) {
    (void)state;
    struct bs_buf buf = BS_BUF_INIT;
    bs_buf_u64(&buf, 0);
    bs_buf_char(&buf, ' ');
    bs_buf_u64(&buf, UINT64_MAX);
    struct bs_bytes bytes = bs_buf_take(&buf);
    assert_string_equal(bytes.data, "0 18446744073709551615");
    bs_bytes_clear(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_untouched_buffer_owns_nothing),
        cmocka_unit_test(bytes_keep_their_order_while_it_grows),
        cmocka_unit_test(single_bytes_cause_few_reallocations),
        cmocka_unit_test(a_reservation_has_room_for_a_nul_as_well),
        cmocka_unit_test(a_size_that_cannot_exist_fails_and_stays_failed),
        cmocka_unit_test(an_overflowing_size_fails),
        cmocka_unit_test(taken_text_ends_in_a_nul_and_leaves_the_buffer_empty),
        cmocka_unit_test(numbers_are_written_in_full),
    };
    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
