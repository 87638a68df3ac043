/* What boxspec-ref does for people. Each command gets the words after its name and returns the exit
 * status of the process. */
#ifndef BS_CLI_COMMANDS_H
#define BS_CLI_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

int bs_cli_bridge(int argc, char **argv);
int bs_cli_exec(int argc, char **argv);
int bs_cli_module(int argc, char **argv);
int bs_cli_policy(int argc, char **argv);
int bs_cli_sbpl(int argc, char **argv);

/* "250ms", "2s", "1.5m" is not taken: whole numbers with ms, s, m or h; no unit means seconds. */
bool bs_cli_duration_ms(const char *text, uint64_t *ms);

/* Whole numbers with k, M or G (powers of 1024), or bytes. */
bool bs_cli_size(const char *text, uint64_t *bytes);

/* One line on stderr: "boxspec-ref: ..."; returns 2. */
int bs_cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
