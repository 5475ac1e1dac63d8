#include "embed/runtime/disk_side.hpp"

#include <utility>

#include "embed/runtime/log_thread.hpp"
#include "embed/runtime/state_thread.hpp"

namespace mortise::detail {

// One thread writes these counters, others read them.
// The core thread counts its own writes, which take no time to speak of.
void LogCounters::count(const LogWrite& write) {
    bytes += write.bytes;
    if (write.kind == LogWrite::Kind::unsynced) {
        ++unsynced_writes;
        return;
    }
    if (write.kind == LogWrite::Kind::background_sync) {
        ++background_syncs;
        return;
    }
    ++writes;
    times.count(write.took);
    if (write.took > slowest.load()) slowest = write.took;
}

DiskSide::DiskSide(DescriptorWatch& descriptors, IdlePoll idle, core::Nanoseconds sync_interval)
    : descriptors_{descriptors}, idle_{idle}, sync_interval_{sync_interval} {}

DiskSide::~DiskSide() = default;

void DiskSide::hold(std::shared_ptr<const void> lock, core::Incarnation incarnation) {
    lock_ = std::move(lock);
    incarnation_ = incarnation;
}

void DiskSide::start(std::unique_ptr<storage::LogStore> log, DiskEvents log_events,
                     std::unique_ptr<storage::StateStore> state, DiskEvents state_events) {
    log_ =
        std::make_unique<LogThread>(std::move(log), std::move(log_events), idle_, sync_interval_);
    state_ = std::make_unique<StateThread>(std::move(state), *log_, std::move(state_events));
}

void DiskSide::watch(std::function<bool()> is_held) {
    descriptors_.set_directory(std::move(is_held));
}

core::Nanoseconds DiskSide::unsynced_age(core::Instant now) {
    const auto since = log_ ? log_->unsynced_since() : std::nullopt;
    return since ? now - *since : core::Nanoseconds{};
}

void DiskSide::stop() {
    if (log_) log_->hurry();
    if (state_) state_->stop();
    if (log_) log_->stop();
}

void DiskSide::close() {
    descriptors_.set_directory({});
    state_.reset();
    log_.reset();
}

}  // namespace mortise::detail
