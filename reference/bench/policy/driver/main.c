#include "bench.h"

#include <stdio.h>
#include <string.h>

const struct bench_engine *bench_find_engine(const char *name) {
    static const struct {
        const char *word;
        const struct bench_engine *engine;
    } all[] = {{"matcher", &bench_boxspec}, {"profile", &bench_profile}, {"glob", &bench_glob},
               {"fnmatch", &bench_fnmatch}, {"pcre2", &bench_pcre2},     {"re2", &bench_re2}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].word, name) == 0)
            return all[i].engine;
    return NULL;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"check", bench_check},
                    {"compile", bench_compile},
                    {"match", bench_match},
                    {"load", bench_load},
                    {"serve", bench_serve}};
    bench_pin(0);
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    (void)fputs("usage: boxspec-bench-policy check PATHS ROUNDS ENGINE:RULES... |\n"
                "       compile ENGINE RULES PATHS | match ENGINE FAMILY TOKENS BYTES |\n"
                "       load json|yaml FILE ROUNDS | serve PROGRAM RULES PATHS ROUNDS\n"
                "ENGINE: profile, matcher, glob, re2, pcre2 or fnmatch\n",
                stderr);
    return 2;
}
