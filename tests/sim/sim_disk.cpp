#include "tests/sim/sim_disk.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"

namespace mortise::sim {

const core::Entry* Platter::find(core::LogIndex index) const {
    if (index <= base.index || index > last().index) return nullptr;
    return &entries[static_cast<std::size_t>(index.raw() - base.index.raw() - 1)];
}

bool Platter::has(core::LogId id) const {
    if (id.index < base.index) return true;
    if (id.index == base.index) return id.term == base.term;
    const auto* entry = find(id.index);
    return entry != nullptr && entry->id == id;
}

SimDisk::SimDisk(EventHeap& heap, Tally& tally, DiskListener& listener, std::uint64_t seed)
    : heap_{heap}, tally_{tally}, listener_{listener}, prng_{seed} {}

void SimDisk::submit(const core::Write& write) {
    if (broken_) return;
    if (!queue_.empty() && write.truncate_from && queue_.back().append.size() > 0 &&
        queue_.back().append.back().id.index >= *write.truncate_from) {
        tally_.probe("truncation of entries still being written");
    }
    queue_.push_back(write);
    if (queue_.size() > 1) return;
    const bool ready = stalled_until_ <= heap_.now() && !fails_next_ && !reporting_;
    if (ready && prng_.below(1'000'000) < options_.at_once_ppm) {
        tally_.probe("write completed at once");
        complete(1);
    } else {
        start_sync();
    }
}

// One sync covers what has queued up, as a log thread does it, or less; never so little for so long
// that a busy disk falls behind for ever.
void SimDisk::start_sync() {
    const auto starts = std::max(heap_.now(), stalled_until_);
    const auto latency = prng_.between(options_.latency_min, options_.latency_max);
    syncing_ = prng_.one_in(4) ? 1 + prng_.below(queue_.size()) : queue_.size();
    heap_.at(starts + latency, [this, attempt = ++attempt_] {
        if (attempt == attempt_) end_sync();
    });
}

void SimDisk::end_sync() {
    if (stalled_until_ > heap_.now()) {
        start_sync();
    } else if (std::exchange(fails_next_, false)) {
        tally_.fault(Fault::disk_error);
        broken_ = true;
        listener_.write_failed();
    } else {
        complete(syncing_);
    }
}

// All of them are on the platter before the first is reported: to report is to let things happen.
void SimDisk::complete(std::size_t writes) {
    std::vector<core::WriteId> done;
    for (std::size_t i = 0; i < writes; ++i) {
        put_on_platter(queue_.front());
        done.push_back(queue_.front().id);
        queue_.pop_front();
    }
    if (!queue_.empty()) start_sync();
    const auto life = life_;
    reporting_ = true;
    for (const auto id : done) {
        if (life == life_) listener_.write_done(id);
    }
    reporting_ = false;
}

void SimDisk::calm_down() {
    fails_next_ = false;
    stalled_until_ = 0;
    // The sync under way may be a slow one.
    if (!queue_.empty() && !broken_) start_sync();
}

void SimDisk::put_on_platter(const core::Write& write) {
    const auto before = platter_.hard_state;
    if (write.hard_state) platter_.hard_state = *write.hard_state;
    if (write.truncate_from) {
        tally_.probe("log truncated on disk");
        MORTISE_CHECK(*write.truncate_from > platter_.base.index);
        while (!platter_.entries.empty() && platter_.last().index >= *write.truncate_from)
            platter_.entries.pop_back();
    }
    for (const auto& entry : write.append) {
        MORTISE_CHECK(entry.id.index == platter_.last().index.next());
        if (entry.id.index == core::LogIndex{1}) platter_.founding = entry.checksum;
        platter_.entries.push_back(entry);
    }
    listener_.on_platter(before, write);
    purge_platter();
}

void SimDisk::purge_to(core::LogIndex index) {
    purge_to_ = std::max(purge_to_, index);
    // At once, with the next write, or, if a crash comes before that, not at all.
    if (prng_.one_in(2)) purge_platter();
}

void SimDisk::purge_platter() {
    while (platter_.base.index < purge_to_) {
        MORTISE_CHECK(!platter_.entries.empty());
        const auto& entry = platter_.entries.front();
        if (entry.kind == core::EntryKind::configuration) {
            platter_.configuration = core::decode_configuration(entry.payload).value();
        }
        platter_.base = entry.id;
        platter_.entries.pop_front();
    }
}

void SimDisk::stall_until(SimTime time) {
    stalled_until_ = std::max(stalled_until_, time);
}

void SimDisk::crash() {
    ++attempt_;
    ++life_;
    if (!queue_.empty()) tally_.probe("writes in flight at a crash");
    const auto kept = prng_.below(queue_.size() + 1);
    const bool torn = kept < queue_.size() && prng_.one_in(2);
    for (std::uint64_t i = 0; i < queue_.size(); ++i) {
        if (i < kept) put_on_platter(queue_[i]);
        tally_.fault(i < kept ? Fault::write_kept : Fault::write_lost);
    }
    if (torn) tally_.fault(Fault::write_torn);
    queue_.clear();
    if (prng_.one_in(4)) platter_.countdowns = earlier_countdowns_;
    purge_to_ = {};
    stalled_until_ = 0;
    fails_next_ = false;
    broken_ = false;
}

void SimDisk::wipe(core::Incarnation incarnation) {
    platter_ = {};
    platter_.incarnation = incarnation;
}

core::NodeState SimDisk::recover() {
    platter_.boot_epoch = platter_.boot_epoch.next();
    if (platter_.last().index.is_set()) tally_.probe("restart with a log");
    if (platter_.applied.is_set()) tally_.probe("restart with state on disk");
    core::NodeState state;
    state.raft = {platter_.hard_state,
                  platter_.base,
                  {platter_.entries.begin(), platter_.entries.end()},
                  platter_.applied,
                  platter_.configuration};
    state.machine = platter_.machine;
    state.countdowns = platter_.countdowns;
    return state;
}

}  // namespace mortise::sim
