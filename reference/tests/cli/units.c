#include "cli/commands.h"

#include "support/harness.h"

struct row {
    const char *text;
    uint64_t value;
};

static void durations_have_five_spellings(void **state) {
    (void)state;
    static const struct row rows[] = {{"0", 0},
                                      {"0ms", 0},
                                      {"250ms", 250},
                                      {"2s", 2000},
                                      {"2", 2000},
                                      {"5m", 300000},
                                      {"1h", 3600000},
                                      {"007s", 7000},
                                      {"18446744073709551615ms", UINT64_MAX},
                                      {"18446744073709551s", UINT64_C(18446744073709551000)},
                                      {"5124095576030h", UINT64_C(18446744073708000000)}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint64_t ms = 42;
        assert_true(bs_cli_duration_ms(rows[i].text, &ms));
        assert_true(ms == rows[i].value);
    }
}

static void sizes_are_powers_of_1024(void **state) {
    (void)state;
    static const struct row rows[] = {{"0", 0},
                                      {"4096", 4096},
                                      {"64k", 65536},
                                      {"4M", 4194304},
                                      {"1G", 1073741824},
                                      {"18446744073709551615", UINT64_MAX},
                                      {"17179869183G", UINT64_C(18446744072635809792)}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint64_t bytes = 42;
        assert_true(bs_cli_size(rows[i].text, &bytes));
        assert_true(bytes == rows[i].value);
    }
}

static void anything_else_is_refused_and_changes_nothing(void **state) {
    (void)state;
    static const char *const durations[] = {"",
                                            "s",
                                            "ms",
                                            "-1",
                                            "+1",
                                            "1.5m",
                                            "1 s",
                                            " 1",
                                            "1s ",
                                            "1S",
                                            "1d",
                                            "1sec",
                                            "1e3",
                                            "0x1",
                                            "1ms1",
                                            "1,5s",
                                            "18446744073709551616",
                                            "18446744073709551616ms",
                                            "18446744073709552s",
                                            "5124095576031h",
                                            "99999999999999999999999999"};
    static const char *const sizes[] = {"",
                                        "k",
                                        "-1",
                                        "1.5k",
                                        "1K",
                                        "1kB",
                                        "1m",
                                        "1g",
                                        "1 k",
                                        "1T",
                                        "1kk",
                                        "18446744073709551616",
                                        "17179869184G",
                                        "18014398509481984k"};
    for (size_t i = 0; i < LENGTH(durations); i++) {
        uint64_t ms = 42;
        assert_false(bs_cli_duration_ms(durations[i], &ms));
        assert_true(ms == 42);
    }
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        uint64_t bytes = 42;
        assert_false(bs_cli_size(sizes[i], &bytes));
        assert_true(bytes == 42);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_five_spellings),
        cmocka_unit_test(sizes_are_powers_of_1024),
        cmocka_unit_test(anything_else_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("cli/units", tests, NULL, NULL);
}
