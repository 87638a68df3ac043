#include "bench.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

namespace {

// Generous, so that it is not the budget that is measured.
constexpr int64_t most_memory = int64_t{1} << 30;

struct Compiled {
    explicit Compiled(const RE2::Options &options) : set(options, RE2::ANCHOR_BOTH) {}
    RE2::Set set;
    std::vector<int> seen;
};

void *compile(const bench_lines *rules, char *why, size_t why_size) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    options.set_max_mem(most_memory);
    auto made = std::make_unique<Compiled>(options);
    std::string error;
    for (size_t i = 0; i < rules->n; i++) {
        char *regex = bench_regex(rules->items[i].data, rules->items[i].len);
        int index = regex == nullptr ? -1 : made->set.Add(regex, &error);
        std::free(regex);
        if (index != static_cast<int>(i)) {
            (void)std::snprintf(why, why_size, "RE2: %s", error.c_str());
            return nullptr;
        }
    }
    if (!made->set.Compile()) {
        (void)std::snprintf(why, why_size, "RE2: out of memory");
        return nullptr;
    }
    return made.release();
}

ptrdiff_t highest(void *compiled, const char *raw, size_t len) {
    auto *made = static_cast<Compiled *>(compiled);
    bench_text path;
    if (!bench_normal(raw, len, &path))
        return BENCH_BAD_PATH;
    RE2::Set::ErrorInfo error;
    if (!made->set.Match(re2::StringPiece(path.data, path.len), &made->seen, &error))
        return error.kind == RE2::Set::kNoError ? BENCH_NO_RULE : BENCH_GAVE_UP;
    return *std::max_element(made->seen.begin(), made->seen.end());
}

void drop(void *compiled) { delete static_cast<Compiled *>(compiled); }

} // namespace

const bench_engine bench_re2 = {"RE2::Set", compile, highest, drop, nullptr, nullptr, true};
