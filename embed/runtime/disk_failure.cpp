#include "embed/runtime/disk_failure.hpp"

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/node_runtime.hpp"

namespace mortise::detail {

DiskFailure failure_of(const storage::Error& error) {
    auto what = error.what;
    if (error.code == storage::Errc::no_space) {
        what = "there is no space on the disk: " + what +
               "; make room on the volume of data_dir, and the node continues";
    } else if (error.code == storage::Errc::shortage) {
        what = "there are no descriptors or threads left: " + what +
               "; raise the limits of the process (ulimit -n), or end what uses them";
    }
    return {what, storage::may_pass(error), error.code == storage::Errc::closed};
}

// A full disk or a shortage of descriptors may pass, so the node is suspended. It stops after any
// other failure (P5).
void NodeRuntime::disk_failed(const DiskFailure& failure) {
    if (failure.may_pass && !config_.memory_only) {
        suspend(failure.why, {});
    } else {
        loop_->fail(failure.why);
    }
}

}  // namespace mortise::detail
