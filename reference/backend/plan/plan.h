/* What a backend tells the launcher: a file that prepare writes and that nobody inside can change.
 * It is a list of NUL-terminated entries, each `key=value`; any of them may be repeated. An entry
 * that the launcher does not know is an error: better nothing is run than half confined. */
#ifndef BS_BACKEND_PLAN_PLAN_H
#define BS_BACKEND_PLAN_PLAN_H

#define BS_PLAN_MODE "mode" /* first: `landlock` or `bubblewrap` */
#define BS_PLAN_ARG "arg"   /* bubblewrap: the next word of its command */
/* bubblewrap, once: `/procfs:NAME:NAME:`; what is no process gets read-only, but for these names */
#define BS_PLAN_SEAL "seal"
#define BS_PLAN_OWN "own" /* bubblewrap: `mounts`: it starts in a namespace that gets no more */
#define BS_PLAN_FILTER "filter" /* absolute path of a seccomp program, struct sock_filter[] */
#define BS_PLAN_FS "fs"         /* rights that Landlock handles, hexadecimal; landlock: always */
#define BS_PLAN_PATH "path"     /* `RIGHTS /absolute/path`, rights that are granted below it */
#define BS_PLAN_NET "net"       /* landlock: as fs, for the network */
#define BS_PLAN_SCOPE "scope"   /* landlock: as fs, for scopes */
#define BS_PLAN_PORT "port"     /* landlock: a TCP port that may be connected to, decimal */

#define BS_PLAN_MOST_BYTES (16UL * 1024 * 1024)

/* The command line of the launcher; what follows `--` is the program and its arguments. */
#define BS_LAUNCH_PLAN "--plan"     /* FILE */
#define BS_LAUNCH_CHDIR "--chdir"   /* DIR: where the program starts */
#define BS_LAUNCH_REPORT "--report" /* descriptor BS_LAUNCH_REPORT_FD is a pipe of the caller's */
#define BS_LAUNCH_OWN_STDIN "--own-stdin" /* nobody but the program reads the pipe on 0 */
#define BS_LAUNCH_INSIDE "--inside"       /* for itself: pid 1 of a namespace */

/* Its exit status where it could not start the program and nobody gets a report. */
#define BS_LAUNCH_FAILED 125

#endif
