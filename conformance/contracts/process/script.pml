/* The steps of a script, which the threads take in a replay. The file `script` has three bytes for each
 * step of each thread: the step, its number, and 1 if the step reported an end. A thread ends at S_END. */

#define S_END 0
#define S_OPEN 1
#define S_WAIT 2      /* without a limit */
#define S_LIMIT 3     /* a wait with a limit, and a poll */
#define S_KILL 4
#define S_TERMINATE 5
#define S_CLOSE 6
#define S_DROP 7
#define S_READ 8      /* until programs have written so often to stdout */
#define S_READ_EOF 9
#define S_HAND 10     /* give the thread of this number its next step */
#define S_JOIN 11     /* wait for the end of the thread of this number */

c_decl {
    static unsigned char script_steps[3][64][3];
    static void open_script(void) {
        FILE *file = fopen("script", "r");
        if (file == NULL || fread(script_steps, 1, sizeof script_steps, file) != sizeof script_steps)
            exit(2);
        fclose(file);
    }
}

bool grace_is_over; /* the event of its end has happened */
byte taken[3];      /* steps that the thread has begun */
byte handed[3];     /* steps that it was given */
byte step_kind[3], step_number[3];
bool step_ended[3]; /* the step reported an end */

/* A call reports an end if and only if the step of the order did. */
inline reports(end) {
    if
    :: (end != RUNNING) == step_ended[me]
    :: else -> next_event = T_OTHER
    fi
}

#define TAKE(i)                                                                                     \
    c_code {                                                                                        \
        now.step_kind[i] = script_steps[i][now.taken[i]][0];                                        \
        now.step_number[i] = script_steps[i][now.taken[i]][1];                                      \
        now.step_ended[i] = script_steps[i][now.taken[i]][2];                                       \
    }
