/* The events of a model by number. With TRACE the model replays the events of a forced order: each event
 * must be the next one of the order, and a run that makes another event is not continued. The file
 * `trace` has a byte for each event. conformance/model.md explains the comparison. */

#define E_START 1       /* the leader is started */
#define E_NOT_STARTED 2 /* the leader cannot be started */
#define E_SIGNAL 3      /* the caller receives a signal */
#define E_DUE 4         /* the deadline passes */
#define E_GRACE_OVER 5  /* the grace period passes */
#define E_ASK 6         /* SIGINT or SIGTERM is sent to the group */
#define E_KILL 7        /* SIGKILL is sent to the group */
#define E_COLLECT 8     /* the leader is reaped */
/* The number of the cause is added; it is 0 if the model has no causes. */
#define E_RETURN 16 /* it returns */
/* Events of programs; the number of the program is added. */
#define E_EXIT 32     /* it ends by itself */
#define E_END 36      /* it ends by the first signal */
#define E_GO_ON 40    /* it goes on after the first signal */
#define E_KILLED 44   /* it is killed */
#define E_FORK 48     /* it forks the next program */
#define E_LEAVE 52    /* it leaves the group */
#define E_CLOSE 56    /* it closes stdout and stderr */
#define E_OUT 60      /* it writes to stdout */
#define E_ERR 64      /* it writes to stderr */
#define E_READ 68     /* it reads stdin */
#define E_CLOSE_IN 72 /* it closes stdin */

#ifdef TRACE
#define T_END 255   /* no event is left: the model agrees */
#define T_OTHER 254 /* an event happened that was not the next one */

c_decl {
    static unsigned char trace_events[256];
    /* Return the event with this number, and print the number if it is the highest so far. */
    static int trace_event(int number) {
        static int highest = -1;
        if (highest < 0) {
            FILE *file = fopen("trace", "r");
            memset(trace_events, 255, sizeof trace_events);
            if (file == NULL || fread(trace_events, 1, 255, file) == 0)
                exit(2);
            fclose(file);
        }
        if (number > highest) {
            highest = number;
            printf("AGREES UP TO %d\n", number);
        }
        return trace_events[number];
    }
}

byte next_event; /* 0 before the first step */
byte event_number;

inline open_trace() { c_code { now.next_event = trace_event(0); } }

inline happens(event) {
    if
    :: next_event == (event) -> event_number++; c_code { now.next_event = trace_event(now.event_number); }
    :: else -> next_event = T_OTHER
    fi
}

never {
    do
    :: next_event != T_OTHER && next_event != T_END
    :: next_event == T_END -> break
    od
}
#else
inline open_trace() { skip }
inline happens(event) { skip }
#endif
