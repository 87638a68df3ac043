/* A model of the contract exec: one run, its caller and its programs. conformance/model.md explains how
 * to read a model and how to check it.
 *
 * The supervisor does what page.md demands, one system call at a time. All other processes may act
 * between two of its steps. */

/* Each check of the model has bounds:
 * BOUNDS group   FORKS=2 WRITES=0 PAYLOAD=0 SIGNALS=1 CANCELS=0 DELAYS=1 LIMIT=1
 * BOUNDS output  FORKS=1 WRITES=2 PAYLOAD=0 SIGNALS=0 CANCELS=0 DELAYS=1 LIMIT=1
 * BOUNDS stdin   FORKS=1 WRITES=0 PAYLOAD=2 SIGNALS=0 CANCELS=0 DELAYS=1 LIMIT=1
 * BOUNDS causes  FORKS=0 WRITES=2 PAYLOAD=2 SIGNALS=2 CANCELS=1 DELAYS=0 LIMIT=1
 * BOUNDS at_once FORKS=1 WRITES=1 PAYLOAD=0 SIGNALS=1 CANCELS=0 DELAYS=1 LIMIT=0
 * BOUNDS endless FORKS=1 WRITES=2 PAYLOAD=2 SIGNALS=0 CANCELS=0 DELAYS=0 LIMIT=NEVER
 * FORKS: programs beside the leader. WRITES: bytes that programs write. PAYLOAD: bytes of stdin.
 * SIGNALS: to the caller. CANCELS: 1 if the run may be cancelled. DELAYS: of the caller, each by one
 * unit of time. LIMIT: of the run, in these units. A pipe holds one byte. */
#ifndef CAP
#define CAP 1    /* bytes of stdout */
#endif
#define GRACE 3  /* from the first signal to SIGKILL */
#define LINGER 1 /* for pipes that a process outside the group holds */
#define UNIT 1   /* the tick, until which an end of the group is noticed */

/* Each mistake has the law that it breaks, and the bounds within which it is found. */
#ifndef MISTAKE
#define MISTAKE 0
#endif
#define LOOKS_ONCE 1              /* grace_is_not_cut, group: one look for members is enough */
#define GRACE_FROM_DECISION 2     /* grace_is_not_cut, group: it begins before the first signal */
#define GRACE_ENDS_WITH_LEADER 3  /* grace_is_not_cut, group: the other members are killed then */
#define CANCEL_KILLS 4            /* grace_is_not_cut, causes: a cancelled run has no grace period */
#define SIGNAL_RESTARTS_GRACE 5   /* grace_is_not_extended, causes: by the second signal */
#define NEVER_KILLS 6             /* grace_is_not_extended, group: no SIGKILL after the grace period */
#define WAITS_WHOLE_GRACE 7       /* returns_promptly, group: also if all members have ended */
#define WAITS_FOR_PIPES 8         /* returns_promptly, group: longer than the linger time */
#define IGNORES_ORPHANS 9         /* no_survivor, group: it returns once the leader has ended */
#define KILLS_LEADER_ONLY 10      /* group_is_reached, group: SIGKILL goes to the leader only */
#define COLLECTS_FIRST 11         /* own_numbers_only, group: the leader, before SIGKILL */
#define COLLECTS_TWICE 12         /* nothing_is_collected_twice, group: once more before the return */
#define NEVER_COLLECTS 13         /* leader_is_collected, group: the leader stays a zombie */
#define SIGNALS_LEADER_ONLY 14    /* group_is_reached, group: the first signal */
#define FORWARDS_EACH_SIGNAL 15   /* first_signal_is_sent_once, causes: the second signal, too */
#define HANDLERS_AFTER_SPAWN 16   /* caller_lives_on, group: a signal before them ends the caller */
#define HANDLERS_STAY 17          /* handlers_are_restored, group: if the leader cannot be started */
#define STOPS_READING_AT_EXIT 18  /* no_lost_byte, output: what is in the pipes then is lost */
#define READS_IN_TURN 19          /* returns, endless: stderr only after the end of stdout */
#define CAP_BEFORE_EXIT_ONLY 20   /* cap_is_kept, output: bytes found with the exit do not count */
#define LATER_CAUSE_WINS 21       /* first_cause, causes: a signal during the grace period */
#define DEADLINE_BEFORE_EXIT 22   /* first_cause, group: if both are found at once */
#define LAST_SIGNAL_WINS 23       /* first_cause, causes: the last signal names the result */
#define UNREAD_PAYLOAD_IS_FINE 24 /* first_cause, stdin: if the leader ends before it is written */
#define FAILED_WRITE_IS_FINE 25   /* first_cause, stdin: the run goes on without stdin */
#define PAYLOAD_FIRST 26          /* cause_is_noticed, stdin: it only writes until all is written */
#define DEADLINE_AFTER_SPAWN 27   /* cause_is_noticed, group: counted from the end of the spawn */
#define DEADLINE_ROUNDED_DOWN 28  /* signal_has_a_cause, group: it fires one unit early */
#define STARTS_AFTER_SIGNAL 29    /* nothing_is_started, group: the caller received it before */

#include "../shared/group.pml"

/* The causes of an end, in the order in which they decide if several are found at once. */
#define STDIN 0 /* a failed write */
#define SIGNAL 1
#define CAPPED 2
#define EXITED 3
#define CANCEL 4
#define DEADLINE 5
#define FAILED 6 /* the leader could not be started */
#define UNDECIDED 7

/* What happened, for the laws. */
byte age[6];        /* of each cause: 0 not happened, 1 since the supervisor last woke, 2 before */
bool unclear_stdin; /* the payload was not written completely, but its rest fitted into the pipe */
byte due = NEVER;   /* the deadline */
byte decided = UNDECIDED;

/* The state of the supervisor. */
bool handlers; /* its handlers of SIGINT and SIGTERM are installed */
bool begun, returned;
bool waiting;        /* it is blocked until READY, or until the time `wake` */
byte wake = NEVER;
byte deadline = NEVER;
byte cause = UNDECIDED;
byte signals;        /* how many signals the caller received */
byte caught;         /* the first of them, or 0 */
byte named;          /* the signal that the result names */
bool cancelled;
bool leader_ended;   /* it has seen the end of the leader */
bool open[2];        /* its ends of the output pipes */
byte got;            /* bytes of stdout */
byte left;           /* bytes of the payload that are not written */
bool feeding;        /* its end of the stdin pipe is open */
bool feed_failed;
byte grace_until, drain_until;
byte phase;
#define UNTOUCHED 0
#define IN_GRACE 1
#define KILLED 2
#define ENDED 3

#define PIPE_READY(s) (open[s] && (pipe[s] > 0 || !ANY_WRITER))
#define FEED_READY (feeding && left > 0 && (input < PIPE || !ANY_READER))
#define OUTPUT_READY (PIPE_READY(OUT) ||                                                            \
                      (PIPE_READY(ERR) && !(MISTAKE == READS_IN_TURN && open[OUT])))
#define LEADER_READY (!leader_ended && state[LEADER] == ZOMBIE)
/* After SIGKILL it looks every millisecond, which is no time here. */
#define ALL_DIED (phase == KILLED && !ANY_DYING)
#define SIGNAL_READY (caught != 0 && (phase == UNTOUCHED || phase == ENDED))
#define READY (FEED_READY || (!(MISTAKE == PAYLOAD_FIRST && feeding) &&                             \
    (OUTPUT_READY || LEADER_READY || ALL_DIED || SIGNAL_READY || (phase == UNTOUCHED && cancelled))))

#define HAPPENS(c)                                                                                  \
    if                                                                                              \
    :: cause == UNDECIDED && age[c] == 0 -> age[c] = 1                                              \
    :: else                                                                                         \
    fi

/* Called after each event of a program. */
inline note_event() {
    if
    :: !ANY_LIVE && gone_at == NEVER -> gone_at = now
    :: else
    fi;
    if
    :: feeding && left > 0 && state[LEADER] == RUNS && !ANY_READER -> HAPPENS(STDIN)
    :: feeding && left > 0 && state[LEADER] == ZOMBIE && age[EXITED] == 0 ->
        if
        :: left + input > PIPE -> HAPPENS(STDIN)
        :: else -> unclear_stdin = true
        fi
    :: else
    fi;
    if
    :: state[LEADER] == ZOMBIE -> HAPPENS(EXITED)
    :: else
    fi;
    if
    :: got + pipe[OUT] > CAP -> HAPPENS(CAPPED)
    :: else
    fi
}

/* Another program reads what the leader left of the payload. */
inline note_read() {
    if
    :: state[LEADER] == ZOMBIE && age[STDIN] > 0 -> age[STDIN] = 0; unclear_stdin = true
    :: else
    fi
}

#define STDIN_MATTERS feeding
#include "../shared/program.pml"

inline pass() {
    now++;
    if
    :: due != NEVER && now >= due -> HAPPENS(DEADLINE)
    :: else
    fi;
    if
    :: now == due -> happens(E_DUE)
    :: else
    fi;
    if
    :: signal_at != NEVER && now == signal_at + GRACE -> happens(E_GRACE_OVER)
    :: else
    fi
}

active proctype clock() {
end:
    do
    :: d_step { waiting && !READY && !ANY_DYING && now < wake &&
                (wake != NEVER || (due != NEVER && now <= due)) ->
           LAW(cause_is_noticed, cause != UNDECIDED || (age[SIGNAL] == 0 && age[CAPPED] == 0 &&
               age[EXITED] == 0 && age[CANCEL] == 0 && age[DEADLINE] == 0));
           LAW(returns_promptly, gone_at == NEVER || now < gone_at + late + UNIT ||
               (ANY_WRITER && now < gone_at + late + UNIT + LINGER));
           LAW(grace_is_not_extended, signal_at == NEVER || !ANY_LIVE ||
               now < signal_at + GRACE + late - late_at_signal);
           pass(); printf("time: %d\n", now) }
    :: d_step { begun && !waiting && !returned && late < DELAYS ->
           late++; pass(); printf("time: %d, because the caller is delayed\n", now) }
    od
}

active proctype caller() {
end:
    do
    :: d_step { begun && !returned && signals < SIGNALS && (handlers || ANY_LIVE) ->
           signals++; printf("caller: receives signal %d\n", signals); happens(E_SIGNAL);
           LAW(caller_lives_on, handlers);
           caught = (caught == 0 || MISTAKE == LAST_SIGNAL_WINS -> signals : caught);
           HAPPENS(SIGNAL) }
    :: d_step { begun && cause == UNDECIDED && CANCELS && !cancelled ->
           cancelled = true; printf("caller: cancels the run\n"); HAPPENS(CANCEL) }
    od
}

inline wait_until(at) {
    d_step { wake = at; waiting = true };
    d_step { (READY || (wake != NEVER && now >= wake)) ->
        waiting = false; wake = NEVER; saw_leader = LEADER_READY;
        printf("supervisor: wakes\n");
        LAW(cause_is_noticed, age[0] < 2 && age[1] < 2 && age[2] < 2 && age[3] < 2 && age[4] < 2 &&
            age[5] < 2);
        c = 0;
        do
        :: c <= DEADLINE -> age[c] = (age[c] > 0 -> 2 : 0); c++
        :: else -> c = 0; break
        od }
}

inline decide(what) {
    printf("supervisor: decides cause %d\n", what);
    LAW(signal_has_a_cause, age[what] > 0 || (what == STDIN && unclear_stdin));
    LAW(first_cause, (what <= STDIN || age[STDIN] < 2) && (what <= SIGNAL || age[SIGNAL] < 2) &&
        (what <= CAPPED || age[CAPPED] < 2) && (what <= EXITED || age[EXITED] < 2) &&
        (what <= CANCEL || age[CANCEL] < 2));
    cause = what;
    decided = what;
    age[0] = 0; age[1] = 0; age[2] = 0; age[3] = 0; age[4] = 0; age[5] = 0 /* fewer states */
}

inline ask_once() {
    LAW(first_signal_is_sent_once, signal_at == NEVER);
    ask_group()
}

inline begin_kill() {
    LAW(grace_is_not_cut, cause == CAPPED || cause == EXITED || !ANY_LIVE ||
        (signal_at != NEVER && now >= signal_at + GRACE));
    if
    :: MISTAKE == COLLECTS_FIRST && leader_ended -> collect_leader()
    :: else
    fi;
    kill_group();
    phase = KILLED
}

inline read_output(s) {
    d_step {
        if
        :: open[s] && !(MISTAKE == READS_IN_TURN && s == ERR && open[OUT]) ->
            got = (s == OUT -> got + pipe[s] : got);
            pipe[s] = 0;
            open[s] = ANY_WRITER
        :: else
        fi }
}

inline stop_feeding() {
    feeding = false;
    input = 0 /* what is left in the pipe has no effect any more */
}

inline feed() {
    d_step {
        do
        :: feeding && left > 0 && !ANY_READER -> stop_feeding();
            feed_failed = (MISTAKE != FAILED_WRITE_IS_FINE)
        :: feeding && left > 0 && ANY_READER && input < PIPE -> left--; input++
        :: feeding && left == 0 -> stop_feeding()
        :: else -> break
        od }
}

/* Find the cause of the end, if there is one. */
inline find_cause() {
    if
    :: leader_ended && feeding -> stop_feeding(); feed_failed = (MISTAKE != UNREAD_PAYLOAD_IS_FINE)
    :: else
    fi;
    if
    :: feed_failed -> decide(STDIN)
    :: else ->
        if
        :: caught != 0 -> named = caught; decide(SIGNAL)
        :: caught == 0 && got > CAP -> decide(CAPPED)
        :: caught == 0 && got <= CAP && MISTAKE == DEADLINE_BEFORE_EXIT && t >= deadline ->
            decide(DEADLINE)
        :: caught == 0 && got <= CAP && !(MISTAKE == DEADLINE_BEFORE_EXIT && t >= deadline) ->
            if
            :: leader_ended -> decide(EXITED)
            :: !leader_ended && cancelled -> decide(CANCEL)
            :: !leader_ended && !cancelled && t >= deadline -> decide(DEADLINE)
            :: else
            fi
        fi
    fi
}

inline step_grace() {
    live = true;
    if
    :: leader_ended && MISTAKE == GRACE_ENDS_WITH_LEADER -> live = false
    :: leader_ended && MISTAKE != GRACE_ENDS_WITH_LEADER && MISTAKE != WAITS_WHOLE_GRACE ->
        look_for_members(live);
        /* A member that forked and ended during the look may have hidden its child from it. */
        if
        :: !live && MISTAKE != LOOKS_ONCE -> look_for_members(live)
        :: else
        fi
    :: else
    fi;
    if
    :: !live || (t >= grace_until && MISTAKE != NEVER_KILLS) -> d_step { begin_kill() }
    :: else
    fi
}

active proctype supervisor() {
    byte t, c;
    bool saw_leader, live;
    d_step { open_trace(); begun = true; handlers = (MISTAKE != HANDLERS_AFTER_SPAWN);
        due = (LIMIT == NEVER -> NEVER : now + LIMIT);
        age[DEADLINE] = (LIMIT == 0);
        deadline = (MISTAKE == DEADLINE_ROUNDED_DOWN && due != NEVER -> due - 1 : due);
        printf("supervisor: installs its handlers, and reads its clock\n") };
    d_step { age[SIGNAL] = (caught != 0 -> 2 : 0) };
    if
    :: age[SIGNAL] == 2 && MISTAKE != STARTS_AFTER_SIGNAL -> d_step {
           named = caught; decide(SIGNAL); is_collected = true };
       goto restore
    :: else
    fi;
    if
    :: d_step { printf("supervisor: starts the leader\n"); happens(E_START);
           LAW(nothing_is_started, age[SIGNAL] < 2);
           begin(LEADER, LEADER); open[OUT] = true; open[ERR] = true;
           left = PAYLOAD; feeding = (PAYLOAD > 0) }
    :: d_step { printf("supervisor: cannot start the leader\n"); happens(E_NOT_STARTED);
           cause = FAILED; decided = FAILED; is_collected = true };
       goto restore
    fi;
    d_step {
        deadline = (MISTAKE == DEADLINE_AFTER_SPAWN && due != NEVER -> now + LIMIT : deadline);
        handlers = true };
turn:
    t = NEVER;
    if
    :: phase == UNTOUCHED && !(MISTAKE == PAYLOAD_FIRST && feeding) -> t = deadline
    :: phase == IN_GRACE -> t = grace_until;
        t = (leader_ended && now + UNIT < t -> now + UNIT : t);
        t = (MISTAKE == NEVER_KILLS && t <= now -> now + UNIT : t)
    :: phase == ENDED -> t = drain_until
    :: else
    fi;
    wait_until(t);
    read_output(OUT);
    read_output(ERR);
    feed();
    t = now;
    d_step {
        if
        :: saw_leader || feed_failed || t >= deadline || (phase == IN_GRACE && t >= grace_until) ->
            leader_ended = (state[LEADER] == ZOMBIE)
        :: else
        fi };
    if
    :: phase == UNTOUCHED -> d_step { find_cause() };
        if
        :: cause == UNDECIDED
        :: cause == CAPPED || cause == EXITED || (cause == CANCEL && MISTAKE == CANCEL_KILLS) ->
            d_step { begin_kill() }
        :: else -> d_step { ask_once(); phase = IN_GRACE };
            grace_until = (MISTAKE == GRACE_FROM_DECISION -> t : now) + GRACE
        fi
    :: phase == IN_GRACE && signals == 2 && named == 1 && MISTAKE == SIGNAL_RESTARTS_GRACE ->
        named = 2; grace_until = now + GRACE
    :: phase == IN_GRACE && signals == 2 && cause == SIGNAL && MISTAKE == FORWARDS_EACH_SIGNAL ->
        d_step { ask_once() }
    :: phase == IN_GRACE && caught != 0 && MISTAKE == LATER_CAUSE_WINS -> cause = SIGNAL; named = caught
    :: else
    fi;
    if
    :: phase == IN_GRACE -> step_grace()
    :: else
    fi;
    if
    :: phase == KILLED && leader_ended ->
        live = false;
        if
        :: MISTAKE != IGNORES_ORPHANS && MISTAKE != KILLS_LEADER_ONLY -> look_for_members(live)
        :: else
        fi;
        if
        :: !live -> d_step {
            if
            :: MISTAKE != NEVER_COLLECTS && MISTAKE != COLLECTS_FIRST -> collect_leader()
            :: else
            fi;
            phase = ENDED;
            drain_until = now + LINGER + (MISTAKE == WAITS_FOR_PIPES -> 3 : 0) }
        :: else
        fi
    :: else
    fi;
    if
    :: phase != ENDED -> goto turn
    :: phase == ENDED && (open[OUT] || open[ERR]) && t < drain_until && t < deadline && caught == 0 &&
           MISTAKE != STOPS_READING_AT_EXIT -> goto turn
    :: else
    fi;
    if
    :: MISTAKE != STOPS_READING_AT_EXIT -> read_output(OUT); read_output(ERR)
    :: else
    fi;
    if
    :: cause == EXITED && got > CAP && MISTAKE != CAP_BEFORE_EXIT_ONLY -> cause = CAPPED
    :: else
    fi;
    if
    :: MISTAKE == COLLECTS_TWICE -> d_step { collect_leader() }
    :: else
    fi;
restore:
    handlers = (MISTAKE == HANDLERS_STAY && cause == FAILED);
    d_step { returned = true; printf("supervisor: returns with cause %d\n", cause); happens(E_RETURN + cause);
        LAW(no_survivor, !ANY_LIVE);
        LAW(no_lost_byte, cause == CAPPED || (pipe[OUT] == 0 && pipe[ERR] == 0));
        LAW(cap_is_kept, cause != EXITED || got <= CAP);
        LAW(first_cause, cause == decided || (cause == CAPPED && got > CAP && decided == EXITED));
        LAW(first_cause, cause != SIGNAL || named == 1);
        LAW(handlers_are_restored, !handlers);
        LAW(leader_is_collected, is_collected) }
}
