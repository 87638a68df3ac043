/* Write to and read from the streams of a program. This file needs no change. */
#include "shim.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

cJSON *write_all(struct handle *h, struct bytes data) {
    cJSON *told = cJSON_CreateObject();
    size_t done = 0;
    ssize_t count = 0;
    pthread_mutex_lock(&h->writing); /* so that the bytes of one write arrive together */
    while (done < data.size && count >= 0) {
        count = write(h->pipes[0], data.data + done, data.size - done);
        done += count > 0 ? (size_t)count : 0;
    }
    int why = count < 0 ? errno : 0;
    pthread_mutex_unlock(&h->writing);
    if (why != 0 && why != EPIPE && why != EAGAIN)
        return failed("execution", strerror(why));
    cJSON_AddNumberToObject(told, "written", (double)done);
    if (why)
        cJSON_AddStringToObject(told, "errno", why == EPIPE ? "EPIPE" : "EAGAIN");
    return told;
}

/* Read up to the bytes `end`, and no byte more; without `end` to the end of the stream. */
cJSON *read_all(int fd, const struct bytes *end) {
    static _Thread_local unsigned char some[1 << 16];
    struct bytes data = {0};
    ssize_t count = 1;
    bool found = end && end->size == 0;
    while (!found && count > 0) {
        count = read(fd, some, end ? 1 : sizeof some);
        append(&data, some, count > 0 ? (size_t)count : 0);
        found = end && data.size >= end->size &&
                memcmp(data.data + data.size - end->size, end->data, end->size) == 0;
    }
    cJSON *told = cJSON_CreateObject();
    if (end || data.size <= sizeof some)
        add_base64(told, "data_b64", data.data, data.size);
    if (end)
        return cJSON_AddBoolToObject(told, "eof", count == 0), told;
    cJSON_AddNumberToObject(told, "bytes", (double)data.size);
    add_sha256(told, "sha256", data);
    return told;
}
