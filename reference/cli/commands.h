/* The commands of boxspec-ref for people. Each gets the arguments after its name and returns the
 * exit status of the process. */
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

/* Parse a whole number with ms, s, m or h, such as "250ms"; without a unit it is seconds. */
bool bs_cli_duration_ms(const char *text, uint64_t *ms);

/* Parse a whole number with k, M or G (powers of 1024); without a unit it is bytes. */
bool bs_cli_size(const char *text, uint64_t *bytes);

/* Print one line on stderr, "boxspec-ref: ...", and return 2. */
int bs_cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
