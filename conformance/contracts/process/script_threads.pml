/* The threads of a replay: they take the steps of a script in its order. Thread 0 hands the steps of the
 * others to them. */

inline take_step() {
    d_step {
        if
        :: me == 0 -> TAKE(0)
        :: me == 1 -> TAKE(1)
        :: else -> TAKE(2)
        fi;
        taken[me]++;
        busy[me] = true }
}

#define HAS_TAKEN_ALL(i) (taken[i] == handed[i] && !busy[i])

active [3] proctype thread() {
    byte until, began, at;
    bool live;
    if
    :: me == 0 -> d_step { c_code { open_script(); }; open_trace(); begun = true }
    :: else -> begun
    fi;
    do
    :: me == 0 || taken[me] < handed[me] ->
        take_step();
        if
        :: step_kind[me] == S_OPEN -> d_step { happens(E_START); begin(LEADER, LEADER) }
        :: step_kind[me] == S_WAIT -> calls++; call_wait(NEVER)
        :: step_kind[me] == S_LIMIT -> calls++; call_wait(LIMIT)
        :: step_kind[me] == S_KILL -> calls++; send(kill)
        :: step_kind[me] == S_TERMINATE -> calls++; send(terminate)
        :: step_kind[me] == S_CLOSE -> calls++; call_close()
        :: step_kind[me] == S_DROP -> call_drop()
        :: step_kind[me] == S_READ -> pipe[OUT] >= step_number[me]
        :: step_kind[me] == S_READ_EOF -> !ANY_WRITER
        :: step_kind[me] == S_HAND -> handed[step_number[me]]++
        :: step_kind[me] == S_JOIN -> HAS_TAKEN_ALL(step_number[me])
        :: step_kind[me] == S_END -> HAS_TAKEN_ALL(1) && HAS_TAKEN_ALL(2) -> break
        fi;
        busy[me] = false
    od;
    /* A handle that the script left open is dropped before the answer or after it. */
    if
    :: freed
    :: !freed -> call_drop()
    :: !freed
    fi;
    d_step { happens(E_RETURN) }
}

active proctype clock() {
end:
    do
    :: d_step { phase == IN_GRACE || signal_at != NEVER -> happens(E_GRACE_OVER); grace_is_over = true }
    od
}
