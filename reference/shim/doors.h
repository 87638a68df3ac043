/* The two ways into the shim. Each returns the exit status of the process. */
#ifndef BS_SHIM_DOORS_H
#define BS_SHIM_DOORS_H

int bs_shim_serve(void);
int bs_shim_run(const char *request_path, const char *response_path);

#endif
