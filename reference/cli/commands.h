/* The commands of boxspec-ref for people. Each command gets the arguments after its name, and
 * returns the exit status of the process. */
#ifndef BS_CLI_COMMANDS_H
#define BS_CLI_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

int bs_cli_bridge(int argc, char **argv);
int bs_cli_exec(int argc, char **argv);
int bs_cli_module(int argc, char **argv);
int bs_cli_policy(int argc, char **argv);
int bs_cli_sbpl(int argc, char **argv);
int bs_cli_sandbox(int argc, char **argv);

/* Parse a whole number followed by ms, s, m or h, such as "250ms". A number without a unit means
 * seconds. */
bool bs_cli_duration_ms(const char *text, uint64_t *ms);

/* Parse a whole number followed by k, M or G (powers of 1024). A number without a unit means
 * bytes. */
bool bs_cli_size(const char *text, uint64_t *bytes);

/* Print one line to stderr, "boxspec-ref: ...", and return 2. */
int bs_cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
