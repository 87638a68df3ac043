#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"
#include "shim/modes.h"
#include "shim/ops.h"
#include "shim/policies.h"

static int complain(const char *path, const char *what, const char *remedy, int os_error) {
    char buf[128];
    (void)fprintf(stderr, "boxspec-ref: %s: %s: %s; %s\n", path, what,
                  bs_os_message(os_error, buf, sizeof buf), remedy);
    return 2;
}

static bool read_whole(const char *path, struct bs_buf *text, int *os_error) {
    enum { CHUNK = 256 * 1024 };
    int fd = bs_above_stdio((int)BS_RETRY(open(path, O_RDONLY | O_CLOEXEC)));
    bool good = fd >= 0;
    *os_error = good ? 0 : errno;
    while (good) {
        if (!bs_buf_reserve(text, CHUNK) || text->len > BS_SHIM_MOST_LINE) {
            *os_error = text->failed ? ENOMEM : EFBIG;
            good = false;
            break;
        }
        ssize_t n = (ssize_t)BS_RETRY(read(fd, text->data + text->len, CHUNK));
        if (n < 0)
            *os_error = errno;
        good = n >= 0;
        if (n <= 0)
            break;
        text->len += (size_t)n;
    }
    bs_close(&fd);
    return good;
}

/* The file for the response. The response is written to a temporary file, which is then renamed, so
 * that a reader never sees an incomplete response. The temporary file is opened before a program
 * runs, so that no result is lost if this fails. */
struct response {
    char *temporary;
    int fd;
};

static int response_open(struct response *response, const char *path) {
    response->fd = -1;
    response->temporary = NULL;
    if (asprintf(&response->temporary, "%s.%ld.part", path, (long)getpid()) < 0)
        return ENOMEM;
    response->fd = bs_above_stdio((int)BS_RETRY(
        open(response->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)));
    /* The umask may have removed rights that the caller needs to read the file. */
    if (response->fd < 0 || fchmod(response->fd, 0600) != 0)
        return errno;
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return EISDIR;
    return 0;
}

static int response_store(struct response *response, const struct bs_buf *text, const char *path) {
    size_t done = 0;
    while (done < text->len) {
        ssize_t n = (ssize_t)BS_RETRY(write(response->fd, text->data + done, text->len - done));
        if (n < 0)
            return errno;
        done += (size_t)n;
    }
    if (rename(response->temporary, path) != 0)
        return errno;
    free(response->temporary);
    response->temporary = NULL;
    return 0;
}

static void response_clear(struct response *response) {
    bs_close(&response->fd);
    if (response->temporary != NULL)
        (void)unlink(response->temporary);
    free(response->temporary);
    response->temporary = NULL;
}

/* Wait until the observer closes its end of this named pipe. The observer examines this process
 * after the work is done. */
static void wait_for_fifo(const char *fifo) {
    int fd = (int)BS_RETRY(open(fifo, O_RDONLY | O_CLOEXEC));
    char byte = 0;
    while (fd >= 0 && BS_RETRY(read(fd, &byte, 1)) == 1) {
    }
    bs_close(&fd);
}

/* Also print the error message of the response to stderr. */
static void repeat_message(const struct bs_buf *answer) {
    struct bs_json_error where;
    cJSON *tree = bs_json_parse(answer->data, answer->len, &where);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(tree, "error");
    const cJSON *message = cJSON_GetObjectItemCaseSensitive(error, "message");
    (void)fprintf(stderr, "boxspec-ref: invalid request: %s\n",
                  cJSON_IsString(message) ? message->valuestring : "see the response");
    cJSON_Delete(tree);
}

int bs_shim_run(const char *request_path, const char *response_path) {
    struct bs_buf text = BS_BUF_INIT;
    struct bs_json_writer answer = BS_JSON_WRITER_INIT;
    struct response response;
    int os_error = 0;
    struct bs_done done = {BS_ANSWERED, false, NULL, BS_SBPL_FILE_INIT};
    struct bs_policies policies = {.n_compiled = 0};
    int status = 0;
    int opened = response_open(&response, response_path);
    if (opened != 0) {
        status = complain(response_path, "cannot write the response",
                          "name a file in a folder that you may write to", opened);
        goto finish;
    }
    if (!read_whole(request_path, &text, &os_error)) {
        status = complain(request_path, "cannot read the request",
                          "name a readable file with one JSON object", os_error);
        goto finish;
    }
    done = bs_dispatch(text.data, text.len, BS_MODE_RUN, &policies, &answer);
    os_error = answer.text.failed ? ENOMEM : response_store(&response, &answer.text, response_path);
    if (os_error != 0) {
        status = complain(response_path, "cannot write the response",
                          "make room, or name another file", os_error);
    } else if (done.answer == BS_INVALID_INPUT) {
        repeat_message(&answer.text);
        status = 2;
    } else if (done.hold != NULL) {
        wait_for_fifo(done.hold);
    }
finish:
    response_clear(&response);
    bs_policies_clear(&policies);
    bs_sbpl_file_remove(&done.file);
    free(done.hold);
    bs_json_writer_clear(&answer);
    bs_buf_clear(&text);
    return status;
}
