#include "embed/runtime/disk_failure.hpp"

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/node_runtime.hpp"

namespace mortise::detail {

DiskFailure failure_of(const storage::Error& error) {
    DiskFailure failure{error.what, storage::may_pass(error), error.code == storage::Errc::closed};
    if (error.code == storage::Errc::no_space) {
        failure.why = "there is no space on the disk: " + error.what +
                      "; make room on the volume of data_dir, and the node continues";
        failure.code = std::make_error_code(std::errc::no_space_on_device);
    } else if (error.code == storage::Errc::shortage) {
        failure.why = "there are no descriptors or threads left: " + error.what +
                      "; raise the limits of the process (ulimit -n), or end what uses them";
        failure.code = std::make_error_code(std::errc::too_many_files_open);
    }
    return failure;
}

// A full disk or a shortage of descriptors may pass, so the node is suspended. It stops after any
// other failure (P5).
void NodeRuntime::disk_failed(const DiskFailure& failure) {
    if (failure.may_pass && !config_.memory_only) {
        suspend({failure.why, failure.code}, {});
    } else {
        loop_->fail(failure.why);
    }
}

}  // namespace mortise::detail
