/* A model of the contract process: one handle, the threads that use it, and its programs.
 * conformance/model.md explains how to read a model and how to check it.
 *
 * Each thread calls a few functions of the handle in any order: wait with and without a limit, kill,
 * terminate, close. One of the threads finally drops the handle, while the other one may still be in
 * a call. Between two steps of a thread, all others and the programs may act. */

/* Each check of the model has bounds:
 * BOUNDS group   FORKS=2 THREADS=1 CALLS=1 DELAYS=1
 * BOUNDS calls   FORKS=0 THREADS=1 CALLS=3 DELAYS=1
 * BOUNDS threads FORKS=0 THREADS=2 CALLS=1 DELAYS=0
 * BOUNDS shared  FORKS=1 THREADS=2 CALLS=1 DELAYS=0
 * FORKS: programs beside the leader. THREADS: of the caller. CALLS: of each thread, before the drop.
 * DELAYS: of a thread, each by one unit of time. */
#ifndef WRITES
#define WRITES 0
#endif
#define PAYLOAD 0
#define LIMIT 1 /* of a wait, in units of time */
#define GRACE 3 /* of a close */
#define UNIT 1  /* the tick, until which an end of the group is noticed */

/* Each mistake has the law that it breaks, and the bounds within which it is found. */
#ifndef MISTAKE
#define MISTAKE 0
#endif
#define LOOKS_ONCE 1             /* grace_is_not_cut, group: one look for members is enough */
#define GRACE_ENDS_WITH_LEADER 2 /* grace_is_not_cut, group: the other members are killed then */
#define NEVER_KILLS 3            /* grace_is_not_extended, group: no SIGKILL after the grace period */
#define CLOSE_RESTARTS_GRACE 4   /* grace_is_not_extended, threads: of a close that is under way */
#define WAITS_WHOLE_GRACE 5      /* returns_promptly, group: also if all members have ended */
#define WAIT_LEAVES_MEMBERS 6    /* no_survivor, group: it returns once the leader has ended */
#define DROP_LEAVES_GROUP 7      /* no_survivor, group: it sends no signal */
#define SIGNALS_AFTER_END 8      /* own_numbers_only, calls: kill and terminate always send one */
#define COLLECTS_AGAIN 9         /* nothing_is_collected_twice, threads: in each waiting thread */
#define NEVER_COLLECTS 10        /* leader_is_collected, group: the leader stays a zombie */
#define FORGETS_END 11           /* same_end, calls: a later call reports another end */
#define LIMIT_ROUNDED_DOWN 12    /* limit_is_not_cut, calls: a wait returns one unit early */
#define LIMIT_KILLS 13           /* signal_has_a_cause, calls: a wait kills at its limit */
#define SIGNALS_LEADER_ONLY 14   /* group_is_reached, group: by the first signal */
#define KILLS_LEADER_ONLY 15     /* group_is_reached, group: by SIGKILL */
#define WAITS_LOCKED 16          /* calls_are_not_blocked, threads: it keeps the lock meanwhile */
#define DROP_FREES_AT_ONCE 17    /* handle_outlives_calls, threads: another thread is in a call */
#define DROP_WAITS_LOCKED 18     /* returns, threads: for the other call, with the lock */
#define COUNTS_LATE 19           /* handle_outlives_calls, threads: a call that waits for the lock */

#include "../shared/group.pml"
#define RUNNING 0 /* ends: what a call reports */
#define EXITS 1
#define BY_SIGNAL 2

#define me (_pid - PROGRAMS) /* the number of the thread */
#ifdef TRACE
#define MOST_THREADS 3
#include "script.pml"
#else
#define MOST_THREADS 2
inline reports(end) { skip }
#endif

mtype = { kill, terminate };

/* What happened, for the laws. */
byte end_of_leader;        /* EXITS or BY_SIGNAL, once it has ended */
byte reported;             /* the first end that a call reported */
byte closed_at = NEVER;    /* when the first close sent its signal */
bool may_ask, may_kill;    /* a call was made that sends a signal */
byte waiters;              /* threads in a wait */
bool queued[MOST_THREADS]; /* the thread waits for the lock */

/* The handle. */
bool locked, freed, dropping;
byte calls; /* calls that have begun and not ended */
bool leader_ended;
bool over;  /* the group has ended, and each call reports `kept_end` at once */
byte kept_end; /* how the leader ended, as the handle remembers it */
byte grace_until;
byte phase;
#define UNTOUCHED 0
#define IN_GRACE 1
#define KILLED 2

/* The threads. */
bool begun;
bool waiting[MOST_THREADS], busy[MOST_THREADS];
byte wake[MOST_THREADS] = NEVER;
byte finished;

#define LEADER_READY (!leader_ended && state[LEADER] == ZOMBIE)
#define ALL_DIED (leader_ended && phase == KILLED && !ANY_DYING)
#define READY (over || LEADER_READY || ALL_DIED)
#ifdef TRACE
/* Only the order of events counts in a replay: a thread may wake up at any time, a limited wait may end
 * at any time, and the end of the grace period is an event. */
#define STEP_IS_DUE(i) waiting[i]
#define LIMIT_IS_OVER(limit) (limit != NEVER)
#define MAY_GO_ON(limit) true
#define GRACE_IS_OVER grace_is_over
#else
#define STEP_IS_DUE(i) (waiting[i] && (READY || (wake[i] != NEVER && now >= wake[i])))
#define LIMIT_IS_OVER(limit) (now >= until && !(phase == KILLED && leader_ended))
#define MAY_GO_ON(limit) !LIMIT_IS_OVER(limit)
#define GRACE_IS_OVER (now >= grace_until)
#endif

inline note_event() {
    if
    :: !ANY_LIVE && gone_at == NEVER -> gone_at = now
    :: else
    fi;
    if
    :: state[LEADER] == ZOMBIE && end_of_leader == RUNNING ->
        end_of_leader = (asked[LEADER] || killed[LEADER] -> BY_SIGNAL : EXITS)
    :: else
    fi
}
inline note_read() { skip }
#define STDIN_MATTERS false
#include "../shared/program.pml"

inline lock() {
    queued[me] = true;
    d_step { !locked -> locked = true; queued[me] = false; LAW(handle_outlives_calls, !freed) }
}

/* A call counts from its beginning, not only once it has the lock. */
inline begin_call() {
    lock();
    calls = (MISTAKE == COUNTS_LATE -> calls + 1 : calls)
}

inline end_call() {
    d_step { calls--; locked = false }
}

/* Wait for an event until the time `when`, without the lock. */
inline wait_until(when) {
    d_step { wake[me] = when; waiting[me] = true; locked = (MISTAKE == WAITS_LOCKED) };
    d_step { STEP_IS_DUE(me) -> waiting[me] = false; wake[me] = NEVER };
    if
    :: MISTAKE != WAITS_LOCKED -> lock()
    :: else
    fi
}

inline begin_kill(is_allowed) {
    d_step {
        LAW(signal_has_a_cause, may_kill || leader_ended);
        LAW(grace_is_not_cut, is_allowed || closed_at == NEVER || !ANY_LIVE ||
            now >= closed_at + GRACE);
        kill_group();
        phase = KILLED }
}

/* Take the steps that are due. keeps_grace: the members have the whole grace period of a close, also if
 * the leader has ended. A wait keeps none: it must leave no member. */
inline step(keeps_grace) {
    d_step {
        if
        :: !over && !leader_ended && state[LEADER] == ZOMBIE -> leader_ended = true;
            kept_end = end_of_leader
        :: else
        fi };
    if
    :: !over && leader_ended && MISTAKE == WAIT_LEAVES_MEMBERS && !keeps_grace ->
        d_step { collect_leader(); over = true }
    :: !over && leader_ended && !(MISTAKE == WAIT_LEAVES_MEMBERS && !keeps_grace) &&
            (phase == UNTOUCHED || (phase == IN_GRACE && !keeps_grace)) -> begin_kill(true)
    :: else
    fi;
    if
    :: !over && phase == IN_GRACE ->
        live = true;
        if
        :: leader_ended && MISTAKE == GRACE_ENDS_WITH_LEADER -> live = false
        :: leader_ended && MISTAKE != GRACE_ENDS_WITH_LEADER && MISTAKE != WAITS_WHOLE_GRACE ->
            look_for_members(live);
            if
            :: !live && MISTAKE != LOOKS_ONCE -> look_for_members(live)
            :: else
            fi
        :: else
        fi;
        if
        :: !live || (GRACE_IS_OVER && MISTAKE != NEVER_KILLS) -> begin_kill(false)
        :: else
        fi
    :: else
    fi;
    if
    :: !over && phase == KILLED && leader_ended ->
        look_for_members(live);
        if
        :: !live -> d_step {
            if
            :: MISTAKE != NEVER_COLLECTS -> collect_leader()
            :: else
            fi;
            over = true }
        :: else
        fi
    :: else
    fi
}

/* When the next step is due, if no event happens. */
#define NEXT_STEP                                                                                   \
    (phase != IN_GRACE -> NEVER : (MISTAKE == NEVER_KILLS || now >= grace_until -> now + UNIT :     \
    (leader_ended -> now + UNIT : grace_until)))

/* Report how the leader ended. */
inline report() {
    d_step {
        reports(kept_end);
        LAW(same_end, reported == RUNNING || !over || MISTAKE == FORGETS_END || kept_end == reported);
        reported = (MISTAKE == FORGETS_END && reported != RUNNING -> RUNNING : kept_end);
        LAW(same_end, !over || reported == end_of_leader);
        LAW(no_survivor, !over || !ANY_LIVE) }
}

inline call_wait(limit) {
    begin_call();
    waiters++;
    d_step { began = now; until = NEVER;
        if
        :: limit != NEVER -> until = now + limit - (MISTAKE == LIMIT_ROUNDED_DOWN -> 1 : 0)
        :: else
        fi };
    do
    :: step(false);
        if
        :: over -> break
        :: !over && LIMIT_IS_OVER(limit) -> break
        :: !over && MAY_GO_ON(limit)
        fi;
        at = NEXT_STEP;
        at = (until < at -> until : at);
        wait_until(at);
        if
        :: MISTAKE == COLLECTS_AGAIN && over -> d_step { collect_leader() }
        :: else
        fi
    od;
    if
    :: MISTAKE == LIMIT_KILLS && !over -> begin_kill(true)
    :: else
    fi;
    d_step {
        LAW(limit_is_not_cut, over || now >= began + limit);
        printf("thread %d: wait returns\n", me) };
    report();
    waiters--;
    end_call();
    until = 0;
    began = 0
}

inline send(signo) {
    begin_call();
    d_step {
        printf("thread %d: calls %e\n", me, signo);
        if
        :: !over || MISTAKE == SIGNALS_AFTER_END ->
            if
            :: signo == terminate -> may_ask = true; ask_group()
            :: else -> may_kill = true; kill_group(); closed_at = NEVER
            fi
        :: else
        fi };
    end_call()
}

inline await_end() {
    do
    :: step(true);
        if
        :: over -> break
        :: else
        fi;
        at = NEXT_STEP;
        wait_until(at)
    od;
    at = 0
}

inline call_close() {
    begin_call();
    d_step {
        printf("thread %d: calls close\n", me);
        if
        :: !over && phase != KILLED ->
            may_kill = true;
            ask_group();
            if
            :: closed_at == NEVER -> closed_at = now; late_at_signal = late
            :: else
            fi
        :: else
        fi };
    /* The clock is read after the signal. */
    if
    :: !over && phase == UNTOUCHED -> phase = IN_GRACE; grace_until = now + GRACE
    :: !over && phase == IN_GRACE && MISTAKE == CLOSE_RESTARTS_GRACE -> grace_until = now + GRACE
    :: else
    fi;
    await_end();
    skip;
    d_step { printf("thread %d: close returns\n", me) };
    report();
    end_call()
}

inline call_drop() {
    d_step { dropping = true; calls = calls + (MISTAKE != COUNTS_LATE); printf("thread %d: calls drop\n", me) };
    begin_call();
    if
    :: !over && MISTAKE != DROP_LEAVES_GROUP -> may_kill = true; begin_kill(true); await_end()
    :: else
    fi;
    skip;
    if
    :: MISTAKE == DROP_FREES_AT_ONCE
    :: MISTAKE == DROP_WAITS_LOCKED -> calls == 1
    :: else ->
        if
        :: calls == 1
        :: calls > 1 -> locked = false; calls == 1; lock()
        fi
    fi;
    skip;
    d_step {
        printf("thread %d: drop returns\n", me);
        LAW(no_survivor, !ANY_LIVE);
        LAW(leader_is_collected, is_collected);
        freed = true;
        calls--;
        locked = false }
}

#ifdef TRACE
#include "script_threads.pml"
#else
active [THREADS] proctype thread() {
    byte made, until, began, at;
    bool live;
    if
    :: me == 0 -> d_step { begin(LEADER, LEADER); begun = true; printf("thread 0: opens the handle\n") }
    :: else -> begun
    fi;
    busy[me] = true;
    do
    :: d_step { made < CALLS && !dropping -> made++; calls = calls + (MISTAKE != COUNTS_LATE) };
        if
        :: call_wait(NEVER)
        :: call_wait(LIMIT)
        :: send(kill)
        :: send(terminate)
        :: call_close()
        fi
    :: me == 0 && !dropping -> call_drop(); break
    :: me != 0 -> break
    od;
    busy[me] = false
}

#define SLEEPS(i) (!busy[i] || (queued[i] && locked) || (waiting[i] && !STEP_IS_DUE(i)))
active proctype clock() {
end:
    do
    :: d_step { begun && SLEEPS(0) && SLEEPS(1) && !ANY_DYING &&
                ((waiting[0] && wake[0] != NEVER) || (waiting[1] && wake[1] != NEVER)) ->
           LAW(calls_are_not_blocked, !queued[0] && !queued[1]);
           LAW(returns_promptly, gone_at == NEVER || now < gone_at + late + UNIT);
           LAW(grace_is_not_extended, closed_at == NEVER || !ANY_LIVE ||
               now < closed_at + GRACE + late - late_at_signal);
           now++; printf("time: %d\n", now) }
    :: d_step { begun && !freed && late < DELAYS && !(SLEEPS(0) && SLEEPS(1)) ->
           late++; now++; printf("time: %d, because the caller is delayed\n", now) }
    od
}
#endif
