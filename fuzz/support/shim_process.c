#define _GNU_SOURCE
#include "support/shim_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/lie.h"
#include "support/words.h"

/* The limit for the start is longer, because interpreters start slowly. */
enum { TIMEOUT_MS = 2000, START_MS = 10000, CHUNK = 64 * 1024, MOST_SAID = 32 * 1024 };

static struct {
    pid_t pid; /* 0: not running */
    int in;
    int out;
    int err; /* -1: closed */
    /* The end of the shim's stderr. The buffer is twice as large as the part that is kept. When it
     * is full, the older half is dropped. */
    char said[2 * MOST_SAID];
    size_t n_said;
} shim = {.err = -1};

/* the stderr of the last shim that failed */
static struct bs_buf last_words = BS_BUF_INIT;

const char *bs_fuzz_trouble_name(enum bs_fuzz_trouble trouble) {
    static const char *const names[] = {"well", "shim-died", "shim-hung", "shim-short",
                                        "shim-long"};
    return names[trouble];
}

void bs_fuzz_lines_clear(struct bs_fuzz_lines *lines) {
    free((void *)lines->lines);
    free(lines->lens);
    bs_buf_clear(&lines->bytes);
    *lines = (struct bs_fuzz_lines){.bytes = BS_BUF_INIT};
}

static _Noreturn void give_up(const char *why) {
    fprintf(stderr, "boxspec-fuzz: %s\n", why);
    exit(2);
}

/* Read the pending bytes of stderr. Close it at end-of-file. */
static void read_stderr(void) {
    char chunk[4096];
    while (shim.err >= 0) {
        ssize_t n = (ssize_t)BS_RETRY(read(shim.err, chunk, sizeof chunk));
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            (void)close(shim.err);
            shim.err = -1;
            return;
        }
        if (shim.n_said + (size_t)n > sizeof shim.said) {
            memmove(shim.said, shim.said + shim.n_said - MOST_SAID, MOST_SAID);
            shim.n_said = MOST_SAID;
        }
        memcpy(shim.said + shim.n_said, chunk, (size_t)n);
        shim.n_said += (size_t)n;
        /* Stop after a short read, because a shim that writes all the time must not keep this loop
         * running. */
        if ((size_t)n < sizeof chunk)
            return;
    }
}

const char *bs_fuzz_shim_last_words(size_t *len) {
    *len = last_words.len;
    return last_words.data;
}

void bs_fuzz_shim_show_last_words(FILE *to) {
    const char *at = last_words.data;
    const char *end = at + last_words.len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        fputs("boxspec-shim: ", to);
        for (; at < stop; at++)
            fputc(((unsigned char)*at >= 0x20 && *at != 0x7F) || *at == '\t' ? *at : '?', to);
        fputc('\n', to);
        at = stop + 1;
    }
}

static int timeout_ms(void) {
    const char *text = getenv("BOXSPEC_FUZZ_SHIM_TIMEOUT_MS");
    long number = text != NULL ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < 3600000 ? (int)number : TIMEOUT_MS;
}

static char **command(void) {
    const char *line = getenv("BOXSPEC_FUZZ_SHIM");
    char **words = line != NULL ? bs_fuzz_words(line) : NULL;
    if (words == NULL)
        give_up("BOXSPEC_FUZZ_SHIM is the command line of a shim, without `serve`");
    size_t n = 0;
    while (words[n] != NULL)
        n++;
    static char serve[] = "serve";
    words[n] = serve;
    words[n + 1] = NULL;
    return words;
}

/* Execute the shim. This runs between fork and exec, so it makes only system calls. */
static _Noreturn void start_program(char **words, int in, int out, int err) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2)
        (void)execvp(words[0], words);
    _exit(127);
}

static void start(void) {
    static bool stops;
    int requests[2];
    int answers[2];
    int errors[2];
    char **words = command();
    /* Stop the shim at exit and wait for it. Then its CPU time counts as child time of this
     * process. */
    if (!stops)
        (void)atexit(bs_fuzz_shim_stop);
    stops = true;
    /* Ignore SIGPIPE, because a write to a dead shim must not kill the fuzzer. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0 ||
        pipe2(errors, O_CLOEXEC) != 0)
        give_up("no pipe for the shim");
    pid_t pid = fork();
    if (pid < 0)
        give_up("no process for the shim");
    if (pid == 0)
        start_program(words, requests[0], answers[1], errors[1]);
    (void)close(requests[0]);
    (void)close(answers[1]);
    (void)close(errors[1]);
    (void)fcntl(errors[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(requests[1], F_SETFL, O_NONBLOCK);
    (void)fcntl(answers[0], F_SETFL, O_NONBLOCK);
    shim.pid = pid;
    shim.in = requests[1];
    shim.out = answers[0];
    shim.err = errors[0];
    shim.n_said = 0;
    free((void *)words);
}

static void end(void) {
    (void)close(shim.in);
    (void)close(shim.out);
    if (shim.err >= 0)
        (void)close(shim.err);
    shim.err = -1;
    (void)kill(-shim.pid, SIGKILL);
    (void)kill(shim.pid, SIGKILL);
    (void)BS_RETRY(waitpid(shim.pid, NULL, 0));
    shim.pid = 0;
}

void bs_fuzz_shim_stop(void) {
    if (shim.pid != 0)
        end();
}

struct talk {
    const char *left; /* bytes still to write */
    size_t n_left;
    const char *fence; /* text that the last answer contains */
    size_t lines;
    size_t line_at; /* start of the incomplete line */
    bool fenced;
    struct bs_buf *bytes;
};

static void write_some(struct talk *talk) {
    ssize_t n = (ssize_t)BS_RETRY(write(shim.in, talk->left, talk->n_left));
    if (n > 0) {
        talk->left += n;
        talk->n_left -= (size_t)n;
    } else if (n < 0 && errno != EAGAIN) {
        talk->n_left = 0; /* the shim is dead; answers that it wrote before can still be read */
    }
}

static void count_lines(struct talk *talk) {
    const struct bs_buf *bytes = talk->bytes;
    for (;;) {
        const char *line = bytes->data + talk->line_at;
        const char *end = memchr(line, '\n', bytes->len - talk->line_at);
        if (end == NULL)
            return;
        size_t len = (size_t)(end - line);
        talk->fenced = memmem(line, len, talk->fence, strlen(talk->fence)) != NULL;
        talk->lines++;
        talk->line_at += len + 1;
    }
}

/* Read a chunk. Returns false at end-of-file. */
static bool read_some(struct talk *talk) {
    if (!bs_buf_reserve(talk->bytes, CHUNK))
        give_up("out of memory");
    ssize_t n = (ssize_t)BS_RETRY(read(shim.out, talk->bytes->data + talk->bytes->len, CHUNK));
    if (n < 0)
        return errno == EAGAIN;
    talk->bytes->len += (size_t)n;
    count_lines(talk);
    return n > 0;
}

static int64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum bs_fuzz_trouble converse(struct talk *talk, size_t wanted, int timeout) {
    int64_t until = now_ms() + timeout;
    while (!talk->fenced) {
        struct pollfd fds[3] = {{shim.out, POLLIN, 0},
                                {talk->n_left > 0 ? shim.in : -1, POLLOUT, 0},
                                {shim.err, POLLIN, 0}};
        int64_t left = until - now_ms();
        if (left <= 0 || BS_RETRY(poll(fds, 3, (int)left)) == 0)
            return BS_SHIM_HUNG;
        if (fds[2].revents != 0)
            read_stderr();
        /* output on stderr does not extend the time limit */
        if (fds[0].revents != 0 || fds[1].revents != 0)
            until = now_ms() + timeout;
        if (fds[1].revents != 0)
            write_some(talk);
        if (fds[0].revents != 0 && !read_some(talk))
            return BS_SHIM_DIED;
        if (talk->bytes->len - talk->line_at > BS_FUZZ_SHIM_MOST_LINE ||
            talk->lines > 2 * wanted + 1)
            return BS_SHIM_LONG;
    }
    if (talk->lines != wanted + 1)
        return talk->lines < wanted + 1 ? BS_SHIM_SHORT : BS_SHIM_LONG;
    return talk->line_at == talk->bytes->len ? BS_SHIM_WELL : BS_SHIM_LONG;
}

static void split(struct bs_fuzz_lines *answers, size_t most) {
    answers->lines = calloc(most + 1, sizeof *answers->lines);
    answers->lens = calloc(most + 1, sizeof *answers->lens);
    if (answers->lines == NULL || answers->lens == NULL)
        give_up("out of memory");
    const char *at = answers->bytes.data;
    const char *end = at + answers->bytes.len;
    while (answers->n < most && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL)
            break;
        answers->lines[answers->n] = at;
        answers->lens[answers->n++] = (size_t)(stop - at);
        at = stop + 1;
    }
}

/* Falsify the result, for the self-test of the oracles. */
static enum bs_fuzz_trouble falsified(enum bs_fuzz_trouble trouble) {
    if (bs_fuzz_lie("shim-short"))
        return BS_SHIM_SHORT;
    return bs_fuzz_lie("shim-long") ? BS_SHIM_LONG : trouble;
}

static void put_fence(struct bs_buf *out, char *fence, size_t size) {
    static unsigned long batch;
    (void)snprintf(fence, size, "boxspec-fence-%lu", ++batch);
    bs_buf_str(out, "{\"id\":\"");
    bs_buf_str(out, fence);
    bs_buf_str(out, "\",\"op\":\"hello\",\"protocol\":1,\"nonce\":\"\"}\n");
    if (out->failed)
        give_up("out of memory");
}

/* Send the requests in `out`, followed by a hello. */
static enum bs_fuzz_trouble talk_to(struct bs_buf *out, size_t n, int timeout,
                                    struct bs_buf *answers) {
    char fence[64];
    put_fence(out, fence, sizeof fence);
    struct talk talk = {.left = out->data, .n_left = out->len, .fence = fence, .bytes = answers};
    return converse(&talk, n, timeout);
}

/* Stop the shim and keep the end of its stderr. stderr is complete, because the shim's output has
 * ended. */
static void end_in_trouble(void) {
    read_stderr();
    bs_buf_clear(&last_words);
    size_t most = shim.n_said < MOST_SAID ? shim.n_said : MOST_SAID;
    bs_buf_add(&last_words, shim.said + shim.n_said - most, most);
    end();
}

static void start_well(void) {
    struct bs_buf hello = BS_BUF_INIT;
    struct bs_buf answer = BS_BUF_INIT;
    start();
    if (talk_to(&hello, 0, START_MS, &answer) != BS_SHIM_WELL) {
        end_in_trouble();
        bs_fuzz_shim_show_last_words(stderr);
        give_up("the shim does not start, or does not answer hello");
    }
    bs_buf_clear(&hello);
    bs_buf_clear(&answer);
}

enum bs_fuzz_trouble bs_fuzz_shim_ask(const struct bs_buf *requests, size_t n,
                                      struct bs_fuzz_lines *answers) {
    struct bs_buf sent = BS_BUF_INIT;
    *answers = (struct bs_fuzz_lines){.bytes = BS_BUF_INIT};
    if (shim.pid == 0)
        start_well();
    if (bs_fuzz_lie("shim-died"))
        (void)kill(shim.pid, SIGKILL);
    if (bs_fuzz_lie("shim-hung"))
        (void)kill(shim.pid, SIGSTOP);
    bs_buf_add(&sent, requests->data, requests->len);
    enum bs_fuzz_trouble trouble = falsified(talk_to(&sent, n, timeout_ms(), &answers->bytes));
    if (trouble != BS_SHIM_WELL)
        end_in_trouble();
    split(answers, n);
    bs_buf_clear(&sent);
    return trouble;
}
