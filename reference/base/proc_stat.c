#define _GNU_SOURCE
#include "base/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"

/* Parse the text of a stat file. The field numbers are those of proc(5). The name in field 2 may
 * contain spaces and parentheses, so fields are counted from the last ')'. */
static bool parse(char *text, struct bs_proc_stat *stat) {
    char *rest = strrchr(text, ')');
    if (rest == NULL || rest[1] == '\0')
        return false;
    rest += 2;
    char *save = NULL;
    int field = 3;
    for (char *word = strtok_r(rest, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        if (field == 3)
            stat->state = word[0];
        if (field == 4)
            stat->parent = (pid_t)strtol(word, NULL, 10);
        if (field == 5)
            stat->group = (pid_t)strtol(word, NULL, 10);
        if (field == 20)
            stat->threads = strtoul(word, NULL, 10);
        if (field == 22) {
            stat->started = strtoull(word, NULL, 10);
            return true;
        }
        field++;
    }
    return false;
}

enum bs_proc_stat_outcome bs_proc_stat_read(int proc, const char *pid, struct bs_proc_stat *stat) {
    char path[64];
    char text[1024];
    (void)snprintf(path, sizeof path, "%s/stat", pid);
    int fd = (int)BS_RETRY(openat(proc, path, O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? BS_PROC_STAT_GONE : BS_PROC_STAT_UNREADABLE;
    ssize_t n = (ssize_t)BS_RETRY(read(fd, text, sizeof text - 1));
    bs_close(&fd);
    if (n < 0) /* ESRCH means that the process ended between open and read */
        return errno == ESRCH ? BS_PROC_STAT_GONE : BS_PROC_STAT_UNREADABLE;
    text[n] = '\0';
    return parse(text, stat) ? BS_PROC_STAT_READ : BS_PROC_STAT_UNREADABLE;
}

bool bs_proc_stat_is_dead(const struct bs_proc_stat *stat) {
    if (stat->state == 'X' || stat->state == 'x')
        return true;
    /* A process whose main thread has ended is shown as a zombie while other threads of it still
     * run. */
    return stat->state == 'Z' && stat->threads <= 1;
}
