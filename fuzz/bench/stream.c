/* Replaces the mutator: the engine gets the inputs of a folder one after the other, from memory. So
 * two targets get exactly the same inputs at the same cost. With mutations, each target would get
 * the inputs to which its own coverage leads, and a target without coverage would never get past
 * the first bytes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static struct {
    uint8_t **bytes;
    size_t *sizes;
    size_t n;
    size_t next;
} inputs;

static _Noreturn void die(const char *name) {
    fprintf(stderr, "BOXSPEC_BENCH_INPUTS: %s: %s\n", name, strerror(errno));
    exit(2);
}

static int is_not_hidden(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void read_file(const char *folder, const char *name) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        die(name);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        die(path);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL || fread(bytes, 1, size, file) != size)
        die(path);
    fclose(file);
    free(path);
    inputs.bytes[inputs.n] = bytes;
    inputs.sizes[inputs.n++] = size;
}

static void read_all(void) {
    const char *folder = getenv("BOXSPEC_BENCH_INPUTS");
    struct dirent **entries = NULL;
    if (folder == NULL)
        folder = "";
    int n = scandir(folder, &entries, is_not_hidden, alphasort);
    if (n < 1)
        die(folder);
    inputs.bytes = malloc((size_t)n * sizeof *inputs.bytes);
    inputs.sizes = malloc((size_t)n * sizeof *inputs.sizes);
    if (inputs.bytes == NULL || inputs.sizes == NULL)
        die(folder);
    for (int i = 0; i < n; i++) {
        read_file(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    (void)size;
    (void)seed;
    if (inputs.n == 0)
        read_all();
    size_t number = inputs.next++ % inputs.n;
    size_t taken = inputs.sizes[number] < max_size ? inputs.sizes[number] : max_size;
    memcpy(data, inputs.bytes[number], taken);
    return taken;
}
