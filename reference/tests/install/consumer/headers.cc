// Every public header stands alone in C++, and its init values are C++ too.
#include <boxspec/sbpl.h>

#include <boxspec/bytes.h>
#include <boxspec/error.h>
#include <boxspec/exec.h>
#include <boxspec/glob.h>
#include <boxspec/path.h>
#include <boxspec/policy.h>
#include <boxspec/profile.h>
#include <boxspec/version.h>

extern "C" bool every_init_value_is_one();

bool every_init_value_is_one() {
    bs_bytes bytes = BS_BYTES_INIT;
    bs_error err = BS_ERROR_INIT;
    bs_exec_request request = BS_EXEC_REQUEST_INIT;
    bs_exec_result result = BS_EXEC_RESULT_INIT;
    bs_policy_report report = BS_POLICY_REPORT_INIT;
    bs_sbpl_input input = BS_SBPL_INPUT_INIT;
    bs_sbpl sbpl = BS_SBPL_INIT;
    bs_sbpl_file file = BS_SBPL_FILE_INIT;
    bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    return bytes.data == nullptr && err.code == BS_OK && request.program == nullptr &&
           !result.success && report.n_problems == 0 && input.profile == nullptr &&
           sbpl.n_unguarded == 0 && file.path == nullptr && wrapped.argv == nullptr;
}
