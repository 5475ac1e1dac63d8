#include "core/node/snapshot_installer.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

bool SnapshotInstaller::take(const InstallStep& step) {
    if (step.position == 0) loading_.emplace();
    MORTISE_CHECK(loading_.has_value());
    bool sound = true;
    for (const auto& row : step.rows)
        sound = sound && loading_->add(row.key, *row.value);
    if (sound && step.done) {
        loaded_ = std::exchange(loading_, std::nullopt)->finish(step.last.index);
        sound = loaded_.has_value();
    }
    if (sound) {
        lag_.handed_over(step);
    } else {
        loading_.reset();
    }
    return sound;
}

LockMachine SnapshotInstaller::finish() {
    auto machine = std::move(loaded_.value());
    loaded_.reset();
    return machine;
}

}  // namespace mortise::core
