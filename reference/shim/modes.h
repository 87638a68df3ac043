/* The two modes of the shim: run and serve. Each function returns the exit status of the
 * process. */
#ifndef BS_SHIM_MODES_H
#define BS_SHIM_MODES_H

int bs_shim_serve(void);
int bs_shim_run(const char *request_path, const char *response_path);

#endif
