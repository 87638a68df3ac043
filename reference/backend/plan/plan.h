/* The plan: a file that prepare writes for the launcher. Programs in the sandbox cannot change it.
 * It is a list of NUL-terminated entries `key=value`; a key may occur several times. An unknown key
 * is an error, because a program must not run with only a part of its confinement. */
#ifndef BS_BACKEND_PLAN_PLAN_H
#define BS_BACKEND_PLAN_PLAN_H

#define BS_PLAN_MODE "mode" /* always the first entry: `landlock` or `bubblewrap` */
#define BS_PLAN_ARG "arg"   /* for bubblewrap: the next word of its command line */
/* for bubblewrap, once: `/procfs:NAME:NAME:`. All entries of this procfs become read-only, except
 * those of processes and the named ones. */
#define BS_PLAN_SEAL "seal"
/* for bubblewrap: with the value `mounts`, bubblewrap starts in a mount namespace that gets no
 * later mounts of the host */
#define BS_PLAN_OWN "own"
/* for bubblewrap: an absolute path. Other processes may replace directories below it by links, so
 * pid 1 checks each later mount of the plan whose place lies below it. */
#define BS_PLAN_CHECKED "checked"
#define BS_PLAN_FILTER "filter" /* absolute path of a seccomp program, struct sock_filter[] */
/* the rights that Landlock restricts, hexadecimal; required for `landlock` */
#define BS_PLAN_FS "fs"
/* `RIGHTS /absolute/path`: rights that are granted on this path and below it */
#define BS_PLAN_PATH "path"
#define BS_PLAN_NET "net"     /* for landlock: the restricted network rights, hexadecimal */
#define BS_PLAN_SCOPE "scope" /* for landlock: the restricted scopes, hexadecimal */
#define BS_PLAN_PORT "port"   /* for landlock: a TCP port, decimal, to which programs may connect */

#define BS_PLAN_MOST_BYTES (16UL * 1024 * 1024)

/* The options of the launcher. The program and its arguments follow after `--`. */
#define BS_LAUNCH_PLAN "--plan"   /* FILE, with the plan */
#define BS_LAUNCH_CHDIR "--chdir" /* DIR: where the program starts */
/* descriptor BS_LAUNCH_REPORT_FD is a pipe or socket to the caller */
#define BS_LAUNCH_REPORT "--report"
/* the pipe at descriptor 0 has no other reader than the program */
#define BS_LAUNCH_OWN_STDIN "--own-stdin"
#define BS_LAUNCH_INSIDE "--inside" /* used by the launcher itself, as pid 1 of a namespace */

/* Exit status of the launcher if it cannot start the program and has no pipe for a report. */
#define BS_LAUNCH_FAILED 125

#endif
