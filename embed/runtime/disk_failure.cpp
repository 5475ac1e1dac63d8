#include "embed/runtime/disk_failure.hpp"

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/node_runtime.hpp"

namespace mortise::detail {

DiskFailure failure_of(const storage::Error& error) {
    const auto* const what =
        error.code == storage::Errc::no_space   ? "there is no space on the disk: "
        : error.code == storage::Errc::shortage ? "there are no descriptors or threads left: "
                                                : "";
    return {what + error.what, storage::may_pass(error), error.code == storage::Errc::closed};
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
