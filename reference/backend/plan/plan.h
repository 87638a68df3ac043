/* The plan: a file that prepare writes for the launcher. Programs inside cannot change it. It is a
 * list of NUL-terminated entries `key=value`, and a key may be repeated. An unknown key is an
 * error, because a program must not run with a part of its confinement. */
#ifndef BS_BACKEND_PLAN_PLAN_H
#define BS_BACKEND_PLAN_PLAN_H

#define BS_PLAN_MODE "mode" /* first: `landlock` or `bubblewrap` */
#define BS_PLAN_ARG "arg"   /* bubblewrap: the next word of its command */
/* bubblewrap, once: `/procfs:NAME:NAME:`. Entries of this procfs become read-only, except for those
 * of processes and for these names. */
#define BS_PLAN_SEAL "seal"
/* bubblewrap: `mounts`: it starts in a mount namespace that gets no later mounts of the host */
#define BS_PLAN_OWN "own"
#define BS_PLAN_FILTER "filter" /* absolute path of a seccomp program, struct sock_filter[] */
#define BS_PLAN_FS "fs"         /* rights that Landlock handles, hexadecimal; landlock: always */
#define BS_PLAN_PATH "path"     /* `RIGHTS /absolute/path`, rights that are granted below it */
#define BS_PLAN_NET "net"       /* landlock: as fs, for the network */
#define BS_PLAN_SCOPE "scope"   /* landlock: as fs, for scopes */
#define BS_PLAN_PORT "port"     /* landlock: a TCP port that may be connected to, decimal */

#define BS_PLAN_MOST_BYTES (16UL * 1024 * 1024)

/* The command line of the launcher; after `--` come the program and its arguments. */
#define BS_LAUNCH_PLAN "--plan"     /* FILE */
#define BS_LAUNCH_CHDIR "--chdir"   /* DIR: where the program starts */
#define BS_LAUNCH_REPORT "--report" /* descriptor BS_LAUNCH_REPORT_FD is a pipe to the caller */
#define BS_LAUNCH_OWN_STDIN "--own-stdin" /* only the program reads the pipe on descriptor 0 */
#define BS_LAUNCH_INSIDE "--inside"       /* used by the launcher itself, as pid 1 of a namespace */

/* Exit status of the launcher if it cannot start the program and has no pipe for a report. */
#define BS_LAUNCH_FAILED 125

#endif
