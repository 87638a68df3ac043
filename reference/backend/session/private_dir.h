/* The private directory of a session. It holds the plan for the launcher and other files that
 * programs in the sandbox must not change, so it lies outside of every place that they may write
 * to.
 *
 * The process keeps a lock on the directory until it removes it. bs_private_dir_make first removes
 * directories in the same place that are not locked: the processes that made them were killed. */
#ifndef BS_BACKEND_SESSION_PRIVATE_DIR_H
#define BS_BACKEND_SESSION_PRIVATE_DIR_H

#include <boxspec/backend.h>

struct bs_private_dir {
    char *path; /* malloc'd; NULL if there is no directory */
    int lock;   /* locked descriptor of the directory, or -1 */
};
#define BS_PRIVATE_DIR_INIT                                                                        \
    { NULL, -1 }

/* Make the directory. `also_writable` is another directory to avoid, or NULL. Returns 0, or BS_E_IO
 * if no directory can be made. */
int bs_private_dir_make(const struct bs_backend_context *context, const char *also_writable,
                        struct bs_private_dir *made, struct bs_error *err);

/* True if programs of this context may write to `path`, or if `path` lies in `also_writable`. */
bool bs_is_granted(const struct bs_backend_context *context, const char *also_writable,
                   const char *path);

/* The next functions make a file or a directory called `name` in `dir`. They return 0 or
 * BS_E_IO. */
int bs_private_dir_add_file(const char *dir, const char *name, const void *data, size_t len,
                            unsigned mode, struct bs_error *err);
int bs_private_dir_copy_file(const char *dir, const char *name, const char *file,
                             struct bs_error *err); /* with mode 0500 */
int bs_private_dir_add_dir(const char *dir, const char *name, unsigned mode, struct bs_error *err);

/* Remove the directory and unlock it. The lock is released even if the directory could not be
 * removed completely (BS_E_IO). */
int bs_private_dir_remove(struct bs_private_dir *dir, struct bs_error *err);

/* Remove the file `name` in the directory `parent`, or the directory with all of its contents.
 * Returns 0 or an errno; ETIME if the time `until` (of bs_now_ns) passed before the end. */
int bs_remove_tree(int parent, const char *name, uint64_t until);

#endif
