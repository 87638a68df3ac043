/* The part that the models of exec and process share: the programs of a process group, the signals to
 * the group, the time, and the laws about them. conformance/model.md explains how to read it. */

#define ABSENT 0
#define RUNS 1
#define ZOMBIE 2

#define LEADER 0
#define PROGRAMS 3 /* the leader, and two more that members may fork */
#define OUT 0
#define ERR 1
#ifndef PIPE
#define PIPE 1    /* bytes that a pipe holds */
#endif
#define NEVER 255 /* a time that is never reached */

/* All laws of both models. */
mtype = { returns, no_survivor, no_lost_byte, first_cause, cause_is_noticed, signal_has_a_cause,
          grace_is_not_cut, grace_is_not_extended, first_signal_is_sent_once, returns_promptly,
          handlers_are_restored, caller_lives_on, leader_is_collected, nothing_is_collected_twice,
          own_numbers_only, group_is_reached, cap_is_kept, same_end, limit_is_not_cut,
          calls_are_not_blocked, handle_outlives_calls, nothing_is_started };

/* State a law at the moment at which it must hold. Laws are not checked while events are replayed. */
#ifdef TRACE
#define LAW(name, kept) skip
#else
#define LAW(name, kept)                                                                             \
    if                                                                                              \
    :: (kept)                                                                                       \
    :: else -> printf("BROKEN LAW: %e\n", name); assert(false)                                      \
    fi
#endif

#include "trace.pml"

byte state[PROGRAMS];   /* a ZOMBIE that is not the leader has no further effect */
bool inside[PROGRAMS];  /* it is a member of the group */
bool writer[PROGRAMS];  /* it holds the output pipes */
bool reader[PROGRAMS];  /* it holds the stdin pipe */
bool asked[PROGRAMS];   /* the first signal was sent to it and has not been delivered */
bool killed[PROGRAMS];  /* SIGKILL was sent to it and has not been delivered */
byte pipe[2];           /* bytes in the pipes of stdout and stderr */
byte input;             /* bytes in the pipe of stdin */
byte writes;            /* bytes that programs have written */
byte forks;             /* programs that were forked */

byte now;               /* the time */
byte late;              /* how often the caller was delayed by one unit of time */
byte signal_at = NEVER; /* when the first signal was sent */
byte late_at_signal;    /* the value of `late` at this time */
byte gone_at = NEVER;   /* when the last member ended or left */
bool is_collected;      /* the leader was reaped: its number may belong to another process now */

#define LIVE(p) (state[p] == RUNS && inside[p])
#define ANY_LIVE (LIVE(0) || LIVE(1) || LIVE(2))
#define DYING(p) (state[p] == RUNS && killed[p])
#define ANY_DYING (DYING(0) || DYING(1) || DYING(2))
#define WRITER(p) (state[p] == RUNS && writer[p])
#define ANY_WRITER (WRITER(0) || WRITER(1) || WRITER(2))
#define READER(p) (state[p] == RUNS && reader[p])
#define ANY_READER (READER(0) || READER(1) || READER(2))

inline begin(p, parent) {
    state[p] = RUNS;
    inside[p] = (p == LEADER || inside[parent]);
    writer[p] = (p == LEADER || writer[parent]);
    reader[p] = (p == LEADER -> PAYLOAD > 0 : reader[parent])
}

/* A signal is an event of an order only if it reaches a live member, or if the number of the group may
 * belong to another process. */
#ifdef TRACE
inline is_sent(event) {
    if
    :: ANY_LIVE || is_collected -> happens(event)
    :: else
    fi
}
#else
inline is_sent(event) { skip }
#endif

/* kill(2) with the number of the group: the kernel finds all its members at one moment. */
inline ask_group() {
    LAW(own_numbers_only, !is_collected);
    printf("supervisor: sends the first signal to the group\n");
    is_sent(E_ASK);
    asked[0] = LIVE(0);
    asked[1] = (LIVE(1) && MISTAKE != SIGNALS_LEADER_ONLY);
    asked[2] = (LIVE(2) && MISTAKE != SIGNALS_LEADER_ONLY);
    LAW(group_is_reached, (asked[0] || !LIVE(0)) && (asked[1] || !LIVE(1)) && (asked[2] || !LIVE(2)));
    signal_at = now;
    late_at_signal = late
}

inline kill_group() {
    LAW(own_numbers_only, !is_collected);
    printf("supervisor: sends SIGKILL to the group\n");
    is_sent(E_KILL);
    killed[0] = killed[0] || LIVE(0);
    killed[1] = killed[1] || (LIVE(1) && MISTAKE != KILLS_LEADER_ONLY);
    killed[2] = killed[2] || (LIVE(2) && MISTAKE != KILLS_LEADER_ONLY);
    LAW(group_is_reached, (killed[0] || !LIVE(0)) && (killed[1] || !LIVE(1)) && (killed[2] || !LIVE(2)))
}

inline collect_leader() {
    LAW(nothing_is_collected_twice, !is_collected);
    printf("supervisor: collects the leader\n");
    happens(E_COLLECT);
    is_collected = true
}

/* Look for live members as a reader of /proc does: one after the other. Between two steps a member may
 * fork and end, so the order in which they are found matters. */
inline look_for_members(found) {
    if
    :: d_step { found = LIVE(1) }; d_step { found = found || LIVE(2) }
    :: d_step { found = LIVE(2) }; d_step { found = found || LIVE(1) }
    fi
}
