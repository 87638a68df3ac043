/* The commands of boxspec-ref for people. Each command gets the arguments after its name, and
 * returns the exit status of the process. */
#ifndef BS_CLI_COMMANDS_H
#define BS_CLI_COMMANDS_H

#include <getopt.h>
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

/* Handle an option with the value optarg; `word` is the argument with its name, or with a missing
 * value (':') or an unknown name ('?'). Returns 0; 1 after --help; 2 after printing a message about
 * wrong usage. */
typedef int bs_cli_handle(void *state, int option, const char *word);

/* Handle the options of a command until one does not return 0. Return its result, or 0 with the
 * index of the first argument after the options in optind. If has_program is true, the first
 * argument that is no option ends them, because options after it belong to a program. */
int bs_cli_handle_options(int argc, char **argv, const struct option *options, bool has_program,
                          bs_cli_handle *handle, void *state);

/* Print one line to stderr, "boxspec-ref: ...", and return 2. */
int bs_cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
