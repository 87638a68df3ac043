#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/sys.h"
#include "cli/commands.h"
#include "cli/policy.h"

int bs_cli_failed(int code, const struct bs_error *err) {
    (void)bs_cli_wrong("%s", err->message);
    return code == BS_E_INVALID ? 2 : BS_CLI_ELSEWHERE;
}

int bs_cli_flushed(int status) {
    if (fflush(stdout) == 0)
        return status;
    (void)bs_cli_wrong("stdout cannot be written to");
    return BS_CLI_ELSEWHERE;
}

int bs_cli_format(const char *word, enum bs_policy_format *format) {
    bool yaml = strcmp(word, "yaml") == 0;
    if (!yaml && strcmp(word, "json") != 0)
        return bs_cli_wrong("%s: the format must be json or yaml", word);
    *format = yaml ? BS_POLICY_YAML : BS_POLICY_JSON;
    return 0;
}

static int format_of(const struct bs_cli_options *options, const char *name,
                     enum bs_policy_format *format) {
    const char *dot = strrchr(name, '.');
    if (options->format != NULL)
        return bs_cli_format(options->format, format);
    if (dot != NULL && strcmp(dot, ".json") == 0)
        return bs_cli_format("json", format);
    if (dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
        return bs_cli_format("yaml", format);
    return bs_cli_wrong("%s: its name shows no format; add --format json or --format yaml", name);
}

static int read_whole(int fd, struct bs_buf *text) {
    enum { CHUNK = 64 * 1024 };
    ssize_t n = 0;
    do {
        if (!bs_buf_reserve(text, CHUNK))
            return ENOMEM;
        n = (ssize_t)BS_RETRY(read(fd, text->data + text->len, CHUNK));
        if (n < 0)
            return errno;
        text->len += (size_t)n;
        /* Reading stops one byte above the limit. The loader then reports that the file is too
         * long. */
    } while (n > 0 && text->len <= BS_POLICY_MOST_BYTES);
    return 0;
}

/* True for a regular file. Reading from another kind of file may block for ever, for example from a
 * named pipe without a writer. */
static bool is_file(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int bs_cli_read_policy(const struct bs_cli_options *options, const char *name,
                       struct bs_cli_file *file) {
    struct bs_buf text = BS_BUF_INIT;
    *file = (struct bs_cli_file){BS_BYTES_INIT, BS_POLICY_JSON, name};
    int status = format_of(options, name, &file->format);
    if (status != 0)
        return status;
    bool from_stdin = strcmp(name, "-") == 0;
    int fd = from_stdin ? 0 : (int)BS_RETRY(open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd >= 0 && !from_stdin && !is_file(fd)) {
        bs_close(&fd);
        return bs_cli_wrong("%s: is not a regular file; name one, or `-` and give it on stdin",
                            name);
    }
    int os_error = fd >= 0 ? read_whole(fd, &text) : errno;
    if (!from_stdin)
        bs_close(&fd);
    if (os_error != 0) {
        char buf[128];
        bs_buf_clear(&text);
        return bs_cli_wrong("%s: cannot be read: %s; name a readable policy file", name,
                            bs_os_message(os_error, buf, sizeof buf));
    }
    file->bytes = bs_buf_take(&text);
    return 0;
}

static struct bs_policy_text text_of(const struct bs_cli_file *file) {
    return (struct bs_policy_text){file->bytes.len > 0 ? file->bytes.data : "", file->bytes.len,
                                   file->format};
}

int bs_cli_load_policy(const struct bs_cli_options *options, const char *global,
                       const char *workspace, bool warnings, struct bs_policy **policy) {
    struct bs_cli_file files[2] = {{.bytes = BS_BYTES_INIT}, {.bytes = BS_BYTES_INIT}};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int status = bs_cli_read_policy(options, global, &files[0]);
    if (status == 0 && workspace != NULL)
        status = bs_cli_read_policy(options, workspace, &files[1]);
    if (status == 0) {
        struct bs_policy_text texts[2] = {text_of(&files[0]), text_of(&files[1])};
        int code =
            bs_policy_load(&texts[0], workspace != NULL ? &texts[1] : NULL, policy, &report, &err);
        bs_cli_put_problems(options, &report, global, workspace);
        if (code != BS_OK)
            status = report.n_problems > 0 ? 2 : bs_cli_failed(code, &err);
        else if (warnings)
            bs_cli_put_warnings(options, &report, global, workspace);
    }
    bs_policy_report_clear(&report);
    bs_bytes_clear(&files[0].bytes);
    bs_bytes_clear(&files[1].bytes);
    return status;
}
