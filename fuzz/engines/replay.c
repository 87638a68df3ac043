/* The engine that needs only a compiler. It replays files, and all files of folders.
 *
 *     TARGET [-v] [--timeout SECONDS] FILE|DIR...   replay each; 0 if no oracle fired
 *     TARGET --json FILE                            print the decoded case, one request per line
 *     TARGET --starve FILE|DIR...                   replay each with failing allocations, without
 *                                                   judging; only in builds for coverage */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/starve.h"
#include "support/case.h"
#include "support/provider.h"

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
/* only builds for coverage have this function */
#pragma weak bs_fuzz_starve

static struct {
    unsigned timeout;
    bool verbose;
    bool starve;
    size_t replayed;
    const char *now; /* the current file */
} run = {.timeout = 10};

__attribute__((format(printf, 1, 2))) static _Noreturn void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "boxspec-fuzz: %s: ", bs_fuzz_target);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* Print the name of the current file. Signal handlers call this, so it uses only async-signal-safe
 * calls. */
static void name_the_file(const char *what) {
    if (run.now == NULL)
        return;
    (void)!write(STDERR_FILENO, what, strlen(what));
    (void)!write(STDERR_FILENO, run.now, strlen(run.now));
    (void)!write(STDERR_FILENO, "\n", 1);
}

static void on_alarm(int number) {
    (void)number;
    name_the_file("boxspec-fuzz: timeout: ");
    run.now = NULL;
    abort();
}

static void on_death(int number) {
    name_the_file("  file     ");
    signal(number, SIG_DFL);
    raise(number);
}

/* A sanitizer reports by itself and ends the process without a signal, so the name of the file is
 * printed by this callback. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void on_report(void) { name_the_file("  file     "); }

static void watch(void) {
    signal(SIGALRM, on_alarm);
    signal(SIGABRT, on_death);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(on_report);
        return;
    }
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], on_death);
}

static char *read_file(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    if (file == NULL)
        die("%s: %s", name, strerror(errno));
    struct bs_buf buf = BS_BUF_INIT;
    size_t n = 0;
    do {
        if (!bs_buf_reserve(&buf, 65536))
            die("%s: no memory", name);
        n = fread(buf.data + buf.len, 1, 65536, file);
        buf.len += n;
    } while (n > 0);
    if (ferror(file))
        die("%s: cannot be read", name);
    fclose(file);
    char *block = bs_fuzz_block(buf.data, buf.len);
    *size = buf.len;
    bs_buf_clear(&buf);
    return block;
}

static void replay_file(const char *name) {
    size_t size = 0;
    char *data = read_file(name, &size);
    if (run.verbose)
        printf("%s\n", name);
    fflush(stdout);
    run.now = name;
    alarm(run.timeout);
    if (run.starve)
        bs_fuzz_starve((const uint8_t *)data, size);
    else
        (void)LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    alarm(0);
    run.now = NULL;
    run.replayed++;
    free(data);
}

static int is_not_hidden(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void replay(const char *name) {
    struct stat what;
    if (stat(name, &what) != 0)
        die("%s: %s", name, strerror(errno));
    if (!S_ISDIR(what.st_mode)) {
        replay_file(name);
        return;
    }
    struct dirent **entries = NULL;
    int n = scandir(name, &entries, is_not_hidden, alphasort);
    if (n < 0)
        die("%s: %s", name, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", name, entries[i]->d_name) < 0)
            die("no memory");
        replay(path);
        free(path);
        free(entries[i]);
    }
    free(entries);
}

static void show(const char *name) {
    size_t size = 0;
    char *data = read_file(name, &size);
    bs_fuzz_write_case(stdout, (const uint8_t *)data, size);
    free(data);
}

static unsigned seconds(const char *word) {
    char *end = NULL;
    unsigned long number = strtoul(word, &end, 10);
    if (end == word || *end != '\0' || number == 0 || number > 3600)
        die("--timeout %s: 1 to 3600 seconds", word);
    return (unsigned)number;
}

int main(int argc, char **argv) {
    if (LLVMFuzzerInitialize != NULL)
        (void)LLVMFuzzerInitialize(&argc, &argv);
    int at = 1;
    bool json = false;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        if (strcmp(argv[at], "-v") == 0)
            run.verbose = true;
        else if (strcmp(argv[at], "--json") == 0)
            json = true;
        else if (strcmp(argv[at], "--starve") == 0 && bs_fuzz_starve != NULL)
            run.starve = true;
        else if (strcmp(argv[at], "--timeout") == 0 && at + 1 < argc)
            run.timeout = seconds(argv[++at]);
        else
            die("usage: [-v] [--timeout SECONDS] FILE|DIR..., or --json FILE");
    }
    if (at == argc)
        die("nothing to replay");
    watch();
    for (; at < argc; at++) {
        if (json)
            show(argv[at]);
        else
            replay(argv[at]);
    }
    if (!json)
        printf("%s: %zu inputs replayed\n", bs_fuzz_target, run.replayed);
    return 0;
}
