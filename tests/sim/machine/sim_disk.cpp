#include "tests/sim/machine/sim_disk.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/locks/machine/machine_loader.hpp"

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

void SimDisk::submit(core::Write write) {
    if (broken_) return;
    if (!queue_.empty() && write.truncate_from && !queue_.back().append.empty() &&
        queue_.back().append.back().id.index >= *write.truncate_from) {
        tally_.probe("truncation of entries still being written");
    }
    submitted_ = write.id;
    queue_.push_back(std::move(write));
    if (queue_.size() > 1) return;
    const bool ready = stalled_until_ <= heap_.now() && !fails_next_ && !reporting_;
    if (ready && !queue_.front().synced) {
        tally_.probe("write reported before its sync");
        complete(1);
    } else if (ready && prng_.below(1'000'000) < options_.at_once_ppm) {
        tally_.probe("write completed at once");
        complete(1);
    } else {
        start_sync();
    }
}

// One sync covers the queued writes, as in a log thread, or fewer; but not so few that a busy disk
// never catches up.
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

void SimDisk::sync_in_background() {
    if (std::exchange(syncs_in_background_, true)) return;
    const auto latency = prng_.between(0, 4 * options_.latency_max);
    heap_.after(latency, [this, life = life_] {
        if (life != life_) return;
        syncs_in_background_ = false;
        if (stalled_until_ > heap_.now() || broken_) return sync_in_background();
        synced();
    });
}

void SimDisk::synced() {
    platter_.synced = platter_.last().index;
    synced_ = done_;
}

// All of them are on the platter before the first one is reported, because a report triggers
// further events.
void SimDisk::complete(std::size_t writes) {
    std::vector<core::WriteId> done;
    bool is_synced = false;
    for (std::size_t i = 0; i < writes; ++i) {
        put_on_platter(queue_.front());
        is_synced = is_synced || queue_.front().synced;
        done.push_back(queue_.front().id);
        queue_.pop_front();
    }
    done_ = done.back();
    if (is_synced) {
        synced();
    } else {
        sync_in_background();
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
    // The current sync may be a slow one.
    if (!queue_.empty() && !broken_) start_sync();
}

void SimDisk::put_on_platter(const core::Write& write) {
    const auto before = platter_.hard_state;
    if (write.reset) {
        MORTISE_CHECK(write.reset->id == platter_.applied_id());
        platter_.base = write.reset->id;
        platter_.configuration = write.reset->configuration;
        if (platter_.configuration.is_formed())
            platter_.founding = core::founding_entry(platter_.configuration).checksum;
        platter_.entries.clear();
        purge_to_ = {};
    }
    if (write.hard_state) platter_.hard_state = *write.hard_state;
    if (write.unsynced) platter_.unsynced = *write.unsynced;
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

void SimDisk::purge_to(const core::LogBase& base) {
    if (base.id > purge_to_.id) purge_to_ = base;
    // At once, or with the next write; not at all if a crash comes before that.
    if (prng_.one_in(2)) purge_platter();
}

void SimDisk::purge_platter() {
    if (platter_.base >= purge_to_.id) return;
    while (platter_.base < purge_to_.id) {
        MORTISE_CHECK(!platter_.entries.empty());
        const auto& entry = platter_.entries.front();
        if (entry.kind == core::EntryKind::configuration) {
            platter_.configuration = core::decode_configuration(entry.payload).value();
        }
        platter_.base = entry.id;
        platter_.entries.pop_front();
    }
    MORTISE_CHECK(platter_.base == purge_to_.id);
    MORTISE_CHECK(platter_.configuration == purge_to_.configuration);
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
        if (i < kept && queue_[i].synced) synced();
        tally_.fault(i < kept ? Fault::write_kept : Fault::write_lost);
    }
    if (torn) tally_.fault(Fault::write_torn);
    queue_.clear();
    put_deltas_on_platter(prng_.below(deltas_ready() + 1));
    if (!deltas_.empty()) tally_.probe("state delta lost in a crash");
    deltas_.clear();
    views_.clear();
    submitted_ = {};
    done_ = {};
    synced_ = {};
    syncs_in_background_ = false;
    if (prng_.one_in(4)) platter_.countdowns = earlier_countdowns_;
    purge_to_ = {};
    stalled_until_ = 0;
    fails_next_ = false;
    broken_ = false;
}

// Which were only appended: every other write is synced.
void SimDisk::lose_power(bool of_entries) {
    if (platter_.unsynced != core::Unsynced::entries) return;
    platter_.unsynced = core::Unsynced::forgotten;
    if (!of_entries) return;
    const auto first = std::max({platter_.synced, platter_.base.index, platter_.applied});
    const auto last = platter_.last().index;
    if (last <= first) return;
    const core::LogIndex kept{first.raw() + prng_.below(last.raw() - first.raw() + 1)};
    if (kept < last) tally_.probe("entries lost with the power");
    while (platter_.last().index > kept)
        platter_.entries.pop_back();
}

void SimDisk::wipe(core::Incarnation incarnation, core::ClusterId former) {
    platter_ = {};
    image_.reset();
    image_in_life_.reset();
    may_be_damaged_ = false;
    platter_.former_cluster = former;
    platter_.incarnation = incarnation;
}

// An old image is more valuable than a new one, because more was promised since.
void SimDisk::take_image() {
    if (may_be_damaged_ || (image_ && !prng_.one_in(4))) return;
    image_ = platter_;
}

const Platter* SimDisk::former_image() const {
    const bool is_former = image_ && image_->boot_epoch < platter_.boot_epoch;
    return is_former ? &*image_ : nullptr;
}

// What was submitted and is not on the platter yet is not in the image, as after a loss of power.
void SimDisk::take_image_in_life() {
    image_in_life_.reset();
    if (!may_be_damaged_ && platter_.knows_cluster()) image_in_life_ = platter_;
}

const Platter* SimDisk::image_in_life() const {
    const bool is_present = image_in_life_ && image_in_life_->boot_epoch == platter_.boot_epoch;
    return is_present ? &*image_in_life_ : nullptr;
}

// --- the state ----------------------------------------------------------------------------------

void SimDisk::save(core::StateDelta delta) {
    MORTISE_CHECK(delta.applied.index > platter_.applied);
    deltas_.push_back({std::move(delta), submitted_});
}

void SimDisk::install(core::InstallStep step) {
    deltas_.push_back({std::move(step), submitted_});
}

// If the state were ahead of the log, a start would miss entries, or find others in their place.
// The switch to an installed state is made by finish_install() alone, or by a crash.
std::size_t SimDisk::deltas_ready() const {
    const auto waits =
        std::ranges::find_if(deltas_, [&](const Saved& each) { return each.behind > synced_; });
    return static_cast<std::size_t>(waits - deltas_.begin());
}

std::optional<core::LogIndex> SimDisk::flush_state() {
    const auto is_switch = [](const Saved& each) {
        const auto* step = std::get_if<core::InstallStep>(&each.what);
        return step != nullptr && step->done;
    };
    const auto before = platter_.applied;
    const auto ready = std::min(
        deltas_ready(),
        static_cast<std::size_t>(std::ranges::find_if(deltas_, is_switch) - deltas_.begin()));
    if (ready < deltas_.size()) tally_.probe("state delta waits for the log");
    if (ready == 0 || broken_) return std::nullopt;
    put_deltas_on_platter(prng_.one_in(4) ? 1 + prng_.below(ready) : ready);
    if (platter_.applied == before) return std::nullopt;
    return platter_.applied;
}

std::optional<core::LogId> SimDisk::finish_install() {
    if (broken_) return std::nullopt;
    const auto ready = deltas_ready();
    for (std::size_t i = 0; i < ready; ++i) {
        const auto* step = std::get_if<core::InstallStep>(&deltas_[i].what);
        if (step == nullptr || !step->done) continue;
        put_deltas_on_platter(i + 1);
        return platter_.applied_id();
    }
    return std::nullopt;
}

void SimDisk::put_deltas_on_platter(std::size_t count) {
    for (; count > 0; --count) {
        std::visit([this](auto& what) { put(what); }, deltas_.front().what);
        deltas_.pop_front();
    }
}

void SimDisk::put(core::StateDelta& delta) {
    MORTISE_CHECK(platter_.has(delta.applied) && delta.applied.index > platter_.applied);
    platter_.applied = delta.applied.index;
    platter_.applied_term = delta.applied.term;
    platter_.configuration_there = std::move(delta.configuration);
    for (auto& row : delta.rows) {
        platter_.seals.erase(row.key);
        if (row.value) {
            platter_.rows.insert_or_assign(std::move(row.key), std::move(*row.value));
        } else {
            platter_.rows.erase(row.key);
        }
    }
}

void SimDisk::put(core::InstallStep& step) {
    if (step.position == 0) platter_.unfinished.clear();
    for (auto& row : step.rows) {
        const bool is_new = platter_.unfinished.emplace(row.key, row.value.value()).second;
        MORTISE_CHECK(is_new);
    }
    if (!step.done) return;
    platter_.rows = std::exchange(platter_.unfinished, {});
    platter_.seals.clear();
    platter_.applied = step.last.index;
    platter_.applied_term = step.last.term;
    platter_.configuration_there = std::move(step.configuration);
}

// --- views for snapshots ------------------------------------------------------------------------

std::optional<core::SnapshotRows> SimDisk::read(const core::SnapshotRead& read) {
    if (!are_rows_sound()) return std::nullopt;
    if (!read.after) {
        views_[read.peer] = {platter_.applied_id(), platter_.configuration_there, platter_.rows};
    }
    const auto& view = views_.at(read.peer);
    core::SnapshotRows rows{read.peer, view.last, view.configuration, read.after,
                            {},        false,     read.transfer};
    auto next = read.after ? view.rows.upper_bound(*read.after) : view.rows.begin();
    std::size_t bytes = 0;
    for (; next != view.rows.end(); ++next) {
        bytes += next->first.size() + next->second.size();
        if (bytes > read.bytes_max && !rows.rows.empty()) break;
        rows.rows.push_back({next->first, next->second});
    }
    rows.done = next == view.rows.end();
    return rows;
}

// --- recovery -----------------------------------------------------------------------------------

core::Configuration Platter::newest_configuration() const {
    const auto newest = std::find_if(entries.rbegin(), entries.rend(), [](const auto& entry) {
        return entry.kind == core::EntryKind::configuration;
    });
    if (newest == entries.rend()) return configuration;
    return core::decode_configuration(newest->payload).value();
}

std::optional<core::NodeState> SimDisk::recover() {
    platter_.boot_epoch = platter_.boot_epoch.next();
    if (platter_.last().index.is_set()) tally_.probe("restart with a log");
    if (platter_.applied.is_set()) tally_.probe("restart with state on disk");
    platter_.unfinished.clear();
    platter_.synced = platter_.last().index;
    // A crash came between an install and the write that resets the log.
    if (!platter_.has(platter_.applied_id()) || platter_.applied > platter_.last().index) {
        tally_.probe("restart with a state ahead of the log");
        platter_.base = platter_.applied_id();
        platter_.configuration = platter_.configuration_there;
        platter_.entries.clear();
    }
    core::NodeState state;
    state.former_cluster = platter_.former_cluster;
    state.raft = {platter_.hard_state,
                  platter_.base,
                  {platter_.entries.begin(), platter_.entries.end()},
                  platter_.applied,
                  platter_.configuration,
                  platter_.unsynced};
    core::MachineLoader loader;
    for (const auto& [key, value] : platter_.rows) {
        if (!loader.add(key, value)) return std::nullopt;
    }
    auto machine = loader.finish(platter_.applied);
    if (!machine || platter_.applied < platter_.base.index) return std::nullopt;
    state.machine = std::move(*machine);
    state.countdowns = platter_.countdowns;
    return state;
}

}  // namespace mortise::sim
