/* A program of the run, which may do anything at any time within the bounds. The model that includes
 * this file defines note_event(), which is called after each event. */

inline note_end(p) {
    state[p] = ZOMBIE;
    note_event();
    /* None of these has an effect any more; equal values make fewer states. */
    inside[p] = false; writer[p] = false; reader[p] = false; asked[p] = false; killed[p] = false;
    blocked = NEVER
}

active [PROGRAMS] proctype program() {
    byte blocked = NEVER; /* the pipe that is full, while a write waits for it */
    byte s;
#define p _pid
#define MAY_ACT (state[p] == RUNS && !killed[p] && blocked == NEVER)
end:
    do
    :: d_step { state[p] == RUNS && killed[p] ->
           printf("program %d: is killed\n", p); happens(E_KILLED + p); note_end(p) }
    :: d_step { state[p] == RUNS && !killed[p] && asked[p] ->
           printf("program %d: ends by the first signal\n", p); happens(E_END + p); note_end(p) }
    :: d_step { state[p] == RUNS && !killed[p] && asked[p] ->
           printf("program %d: goes on after the first signal\n", p); happens(E_GO_ON + p); asked[p] = false }
    :: d_step { MAY_ACT && !asked[p] ->
           printf("program %d: exits\n", p); happens(E_EXIT + p); note_end(p) }
    :: d_step { MAY_ACT && forks < FORKS ->
           forks++; printf("program %d: forks program %d\n", p, forks); happens(E_FORK + p); begin(forks, p) }
    :: d_step { MAY_ACT && p != LEADER && inside[p] ->
           printf("program %d: leaves the group\n", p); happens(E_LEAVE + p); inside[p] = false; asked[p] = false;
           note_event() }
    :: d_step { MAY_ACT && writer[p] ->
           printf("program %d: closes stdout and stderr\n", p); happens(E_CLOSE + p); writer[p] = false; note_event() }
    :: d_step { MAY_ACT && writer[p] && inside[p] && writes < WRITES && pipe[OUT] < PIPE ->
           printf("program %d: writes to stdout\n", p); happens(E_OUT + p); writes++; pipe[OUT]++; note_event() }
    :: d_step { MAY_ACT && writer[p] && inside[p] && writes < WRITES && pipe[ERR] < PIPE ->
           printf("program %d: writes to stderr\n", p); happens(E_ERR + p); writes++; pipe[ERR]++ }
    :: d_step { MAY_ACT && writer[p] && inside[p] && writes < WRITES && pipe[OUT] == PIPE ->
           printf("program %d: waits to write to stdout\n", p); blocked = OUT }
    :: d_step { MAY_ACT && writer[p] && inside[p] && writes < WRITES && pipe[ERR] == PIPE ->
           printf("program %d: waits to write to stderr\n", p); blocked = ERR }
    :: d_step { state[p] == RUNS && !killed[p] && blocked != NEVER && pipe[blocked] < PIPE ->
           printf("program %d: its write ends\n", p); writes++; pipe[blocked]++; blocked = NEVER;
           note_event() }
    :: d_step { STDIN_MATTERS && MAY_ACT && reader[p] && input > 0 ->
           printf("program %d: reads stdin\n", p); happens(E_READ + p); input--; note_read() }
    :: d_step { STDIN_MATTERS && MAY_ACT && reader[p] ->
           printf("program %d: closes stdin\n", p); happens(E_CLOSE_IN + p); reader[p] = false; note_event() }
    od
#undef p
#undef MAY_ACT
}
