#include "storage/log/rocks_log_store.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <rocksdb/convenience.h>
#include <rocksdb/write_batch.h>

#include "core/codec/configuration_codec.hpp"

namespace mortise::storage {

namespace {

// A mistake of the caller. It ends the store as well, since the intended write is missing.
Error misuse(const std::filesystem::path& path, const std::string& what) {
    return {std::make_error_code(std::errc::invalid_argument), path.string() + ": " + what};
}

std::string in_words(const core::LogId& id) {
    return "entry " + std::to_string(id.index.raw()) + " of term " + std::to_string(id.term.raw());
}

rocksdb::Slice slice(std::string_view text) {
    return {text.data(), text.size()};
}

}  // namespace

RocksLogStore::RocksLogStore(Held held, RocksDatabase database, MetaFile meta,
                             const RecoveredLog& found)
    : held_{std::move(held)},
      database_{std::move(database)},
      meta_{std::move(meta)},
      head_{found.head},
      last_{found.last()},
      synced_{found.last()},
      has_purged_files_{found.head.base.id.index.is_set()},
      memtable_bytes_{database_.db->GetOptions().write_buffer_size},
      file_bytes_max_{memtable_bytes_ / 2} {}

Result<void> RocksLogStore::write(std::span<const core::Write> writes) {
    const std::scoped_lock lock{mutex_};
    if (failed_) return *failed_;
    auto planned = plan(writes);
    if (!planned) return fail(std::move(planned).error());
    if (auto done = carry_out_in_pieces(*std::move(planned)); !done)
        return fail(std::move(done).error());
    return check_held();
}

Result<bool> RocksLogStore::write_at_once(const core::Write& write) {
    const std::scoped_lock lock{mutex_};
    if (failed_) return *failed_;
    const auto planned = plan({&write, 1});
    if (!planned) return fail(planned.error()).error();
    if (planned->synced || purge_ || is_file_full(*planned)) return false;
    const auto done = carry_out(*planned, Wait::no);
    if (!done) return fail(done.error()).error();
    if (!*done) return false;
    if (auto held = check_held(); !held) return std::move(held).error();
    return true;
}

// Another process may have the directory by now, which has not seen this write.
Result<void> RocksLogStore::check_held() {
    if (!held_.lock) return {};
    if (auto held = held_.lock->check(); !held) return fail(std::move(held).error());
    return {};
}

// RocksDB lets a thread write to a file while another one syncs it.
Result<void> RocksLogStore::sync() {
    EntryMark last;
    {
        const std::scoped_lock lock{mutex_};
        if (failed_) return *failed_;
        if (!std::exchange(is_unsynced_, false)) return {};
        last = last_;
    }
    const auto status = database_.db->SyncWAL();
    const std::scoped_lock lock{mutex_};
    if (failed_) return *failed_;
    if (!status.ok()) return fail_sync(to_error(status, database_.path));
    synced_ = last;
    return {};
}

Result<void> RocksLogStore::close() {
    if (auto synced = sync(); !synced) return synced;
    const std::scoped_lock lock{mutex_};
    auto meta = meta_.meta();
    if (meta.unsynced != core::Unsynced::entries) return {};
    meta.unsynced = core::Unsynced::nothing;
    if (auto removed = meta_.write(std::move(meta), Durable::yes); !removed)
        return fail(std::move(removed).error());
    return {};
}

Result<void> RocksLogStore::purge_to(const LogBase& base) {
    const std::scoped_lock lock{mutex_};
    if (failed_) return *failed_;
    if (base.id.index <= base_index({})) return {};
    if (base.id.index > last_.id.index)
        return fail(misuse(database_.path, "cannot purge to " + in_words(base.id)));
    auto mark = mark_of(base.id.index);
    if (!mark) return fail(std::move(mark).error());
    if (mark->id != base.id)
        return fail(misuse(database_.path, "purges to what is not " + in_words(mark->id)));
    purge_ = Purge{base, mark->checksum};
    if (auto dropped = drop_purged_files(); !dropped) return fail(std::move(dropped).error());
    grow();
    return {};
}

Result<RocksLogStore::Plan> RocksLogStore::plan(std::span<const core::Write> writes) const {
    Plan plan;
    for (const auto& write : writes) {
        if (auto added = add(write, plan); !added) return std::move(added).error();
    }
    if (purge_) plan.synced = true;
    return plan;
}

// What a loss of power may take away is entries that others have as well, and nothing else.
Result<void> RocksLogStore::refuse_unfit(const core::Write& write, const Plan& plan) const {
    if (write.synced) return {};
    const auto mark = plan.unsynced.value_or(meta_.meta().unsynced);
    if (mark == core::Unsynced::nothing)
        return misuse(database_.path, "writes without a sync before it says so");
    const bool only_appends =
        !write.hard_state && !write.reset && !write.truncate_from && !write.unsynced;
    const bool is_plain = std::ranges::none_of(write.append, core::is_sealed, &core::Entry::kind);
    if (only_appends && is_plain) return {};
    return misuse(database_.path, "writes without a sync what must be synced");
}

// An entry that a later write of the same batch truncates is not written at all.
Result<void> RocksLogStore::add(const core::Write& write, Plan& plan) const {
    if (auto fit = refuse_unfit(write, plan); !fit) return fit;
    plan.synced = plan.synced || write.synced;
    if (write.unsynced) plan.unsynced = write.unsynced;
    if (write.hard_state) plan.hard_state = write.hard_state;
    auto& append = plan.append;
    if (write.reset) {
        if (write.reset->id.index <= base_index(plan))
            return misuse(database_.path, "begins before " + in_words(write.reset->id));
        plan.reset = write.reset;
        plan.truncate_from.reset();
        append.clear();
    }
    if (write.truncate_from) {
        const auto from = *write.truncate_from;
        if (from <= base_index(plan)) return misuse(database_.path, "truncates what is purged");
        while (!append.empty() && append.back()->id.index >= from)
            append.pop_back();
        if (!plan.reset && from <= last_.id.index)
            plan.truncate_from = std::min(plan.truncate_from.value_or(from), from);
    }
    for (const auto& entry : write.append) {
        const auto next = !append.empty()      ? append.back()->id.index.next()
                          : plan.truncate_from ? *plan.truncate_from
                          : plan.reset         ? plan.reset->id.index.next()
                                               : last_.id.index.next();
        if (entry.id.index != next)
            return misuse(database_.path, in_words(entry.id) + " does not follow the log");
        if (!core::is_intact(entry))
            return make_error(Errc::damaged, in_words(entry.id) + " is damaged in memory");
        append.push_back(&entry);
    }
    return {};
}

// A memtable takes one write more than it has room for, and the next opening has to write all of it
// (LogRoom::opening_bytes). Each piece leaves a log that could have been meant.
Result<void> RocksLogStore::carry_out_in_pieces(Plan plan) {
    while (true) {
        Plan rest;
        rest.append = plan.cut_after(LogRoom{.memtable_bytes = memtable_bytes_}.write_bytes());
        rest.synced = plan.synced;
        if (!rest.append.empty()) rest.unsynced = std::exchange(plan.unsynced, std::nullopt);
        const auto done = carry_out(plan, Wait::yes);
        if (!done) return done.error();
        if (rest.append.empty()) return {};
        plan = std::move(rest);
    }
}

std::uint64_t RocksLogStore::Plan::bytes() const {
    constexpr std::uint64_t head_bytes = 256;
    std::uint64_t sum = head_bytes;
    for (const auto* entry : append)
        sum += head_bytes + entry->payload.size();
    return sum;
}

std::vector<const core::Entry*> RocksLogStore::Plan::cut_after(std::uint64_t bytes) {
    std::uint64_t sum = 0;
    const auto first = std::ranges::find_if(append, [&](const core::Entry* entry) {
        sum += entry->payload.size();
        return sum > bytes && entry != append.front();
    });
    std::vector<const core::Entry*> rest{first, append.end()};
    append.erase(first, append.end());
    return rest;
}

Result<bool> RocksLogStore::carry_out(const Plan& plan, Wait wait) {
    const auto kept = kept_of(plan);
    if (!kept) return kept.error();
    if (is_marked() && is_file_full(plan)) {
        if (auto begun = begin_file(); !begun) return std::move(begun).error();
    }
    if (auto lowered = lower_witness(plan, *kept); !lowered) return std::move(lowered).error();
    const auto written = write_batch(plan, *kept, wait);
    if (!written || !*written) return written;
    if (plan.synced) {
        if (auto synced = sync_all(); !synced) return std::move(synced).error();
    }
    if (auto witnessed = witness(plan); !witnessed) return std::move(witnessed).error();
    return true;
}

Result<bool> RocksLogStore::write_batch(const Plan& plan, const EntryMark& kept, Wait wait) {
    rocksdb::WriteBatch batch;
    put(plan, kept, batch);
    if (batch.Count() == 0) return true;
    rocksdb::WriteOptions options;
    options.sync = plan.synced && !is_marked();
    options.no_slowdown = wait == Wait::no;
    const auto status = database_.db->Write(options, &batch);
    if (wait == Wait::no && status.IsIncomplete()) return false;
    if (!status.ok()) return to_error(status, database_.path);
    if (auto whole = database_.errors->check(database_.path); !whole)
        return std::move(whole).error();
    file_bytes_ += plan.bytes();
    is_unsynced_ = !options.sync;
    last_ = plan.append.empty() ? kept
                                : EntryMark{plan.append.back()->id, plan.append.back()->checksum};
    const auto purge = std::exchange(purge_, std::nullopt);
    if (plan.reset) {
        move_base(*plan.reset, kept.checksum);
    } else if (purge) {
        move_base(purge->base, purge->checksum);
    }
    return true;
}

bool RocksLogStore::is_marked() const {
    return meta_.meta().unsynced != core::Unsynced::nothing;
}

// A write that is synced by itself needs nothing here. Where others are not synced, the sync is a
// step of its own, because its failure means more than that of a write.
Result<void> RocksLogStore::sync_all() {
    if (std::exchange(is_unsynced_, false)) {
        if (const auto status = database_.db->SyncWAL(); !status.ok())
            return fail_sync(to_error(status, database_.path));
    }
    synced_ = last_;
    return {};
}

// Well before RocksDB would begin another one.
bool RocksLogStore::is_file_full(const Plan& plan) const {
    return file_bytes_ != 0 && file_bytes_ + plan.bytes() > file_bytes_max_;
}

// So that a file of the write-ahead log is synced before the next one has a write: only the newest
// one may lose something.
Result<void> RocksLogStore::begin_file() {
    if (auto whole = sync_all(); !whole) return whole;
    rocksdb::FlushOptions options;
    options.wait = false;
    options.allow_write_stall = true;
    if (const auto status = database_.db->Flush(options); !status.ok())
        return to_error(status, database_.path);
    file_bytes_ = 0;
    file_bytes_max_ = memtable_bytes_ / 2;
    return {};
}

// The last entry that is neither truncated nor part of a log that was replaced. An entry to which
// the log was reset was never in it, so its checksum is unknown, and is zero.
Result<EntryMark> RocksLogStore::kept_of(const Plan& plan) const {
    if (plan.reset) return EntryMark{plan.reset->id, 0};
    if (plan.truncate_from) return mark_of(plan.truncate_from->previous());
    return last_;
}

// Called before the log loses what the witness names, or begins its terms anew, and synced: a crash
// in between must not look like a loss. The base of the log is valid before and after.
Result<void> RocksLogStore::lower_witness(const Plan& plan, const EntryMark& kept) {
    auto meta = meta_.meta();
    const auto named = meta.last.id.index;
    const bool ends_earlier = plan.reset ? named >= kept.id.index : named > kept.id.index;
    if (ends_earlier) meta.last = plan.reset ? EntryMark{head_.base.id, head_.base_checksum} : kept;
    // Only a recovery does that.
    const bool begins_terms = plan.hard_state && plan.hard_state->term < meta.hard_state.term;
    if (begins_terms) meta.hard_state = *plan.hard_state;
    if (!ends_earlier && !begins_terms) return {};
    // What it names is demanded even after a loss of power.
    if (auto synced = sync_all(); !synced) return synced;
    meta.synced = meta.last;
    return meta_.write(std::move(meta), Durable::yes);
}

void RocksLogStore::put(const Plan& plan, const EntryMark& kept, rocksdb::WriteBatch& batch) const {
    if (plan.reset) {
        put_base(*plan.reset, kept.checksum, batch);
        batch.DeleteRange(entry_key(core::LogIndex{}), entry_key(last_.id.index.next()));
    } else if (purge_) {
        put_base(purge_->base, purge_->checksum, batch);
        batch.DeleteRange(entry_key(head_.base.id.index.next()),
                          entry_key(purge_->base.id.index.next()));
    }
    if (plan.hard_state) batch.Put(slice(hard_state_key), encode_hard_state(*plan.hard_state));
    if (plan.truncate_from)
        batch.DeleteRange(entry_key(*plan.truncate_from), entry_key(last_.id.index.next()));
    auto previous = kept.checksum;
    for (const auto* entry : plan.append) {
        const auto key = entry_key(entry->id.index);
        const auto head = encode_entry_head(*entry, previous);
        const rocksdb::Slice keys{key};
        const std::array<rocksdb::Slice, 2> values{rocksdb::Slice{head},
                                                   slice(entry->payload.view())};
        batch.Put(rocksdb::SliceParts{&keys, 1},
                  rocksdb::SliceParts{values.data(), static_cast<int>(values.size())});
        previous = entry->checksum;
    }
}

void RocksLogStore::put_base(const LogBase& base, std::uint64_t checksum,
                             rocksdb::WriteBatch& batch) const {
    auto head = head_;
    head.base = base;
    head.base_checksum = checksum;
    batch.Put(slice(log_head_key), encode_log_head(head));
}

void RocksLogStore::move_base(const LogBase& base, std::uint64_t checksum) {
    head_.base = base;
    head_.base_checksum = checksum;
    has_purged_files_ = true;
}

// Called after the log is written, so that the log has what the witness has. A reset is witnessed
// with a sync: a start must not mistake a log that lost its reset for one that is still to be
// reset.
Result<void> RocksLogStore::witness(const Plan& plan) {
    auto meta = meta_.meta();
    meta.last = last_;
    meta.synced = synced_;
    meta.unsynced = plan.unsynced.value_or(meta.unsynced);
    if (plan.hard_state) meta.hard_state = *plan.hard_state;
    if (!meta.cluster.is_set()) meta.cluster = cluster_of(plan);
    const auto& before = meta_.meta();
    if (meta == before) return {};
    const bool votes = meta.hard_state != before.hard_state;
    const bool joins = meta.cluster != before.cluster;
    const bool is_durable = votes || joins || plan.reset || plan.unsynced;
    return meta_.write(std::move(meta), is_durable ? Durable::yes : Durable::no);
}

// Removes only what an earlier, synced batch purged: files disappear at once and for ever, and if
// the new base were lost after that, the log would have a hole.
Result<void> RocksLogStore::drop_purged_files() {
    if (!std::exchange(has_purged_files_, false)) return {};
    const auto from = entry_key(core::LogIndex{});
    const auto to = entry_key(head_.base.id.index.next());
    const rocksdb::Slice begin{from};
    const rocksdb::Slice end{to};
    auto status = rocksdb::DeleteFilesInRange(
        database_.db.get(), database_.db->DefaultColumnFamily(), &begin, &end, false);
    if (!status.ok()) return to_error(status, database_.path);
    return database_.errors->check(database_.path);
}

// The volume may have been almost full when the log was opened. If this fails, the memtables stay
// as small as they are.
void RocksLogStore::grow() {
    if (memtable_bytes_ >= LogRoom{}.memtable_bytes) return;
    const auto room = room_of(database_.path.parent_path());
    const auto bytes = room ? log_room(*room).memtable_bytes : memtable_bytes_;
    if (bytes < 2 * memtable_bytes_) return;
    if (set_memtable_bytes(*database_.db, bytes).ok()) memtable_bytes_ = bytes;
}

core::ClusterId RocksLogStore::cluster_of(const Plan& plan) {
    if (plan.reset) return plan.reset->configuration.cluster;
    for (const auto* entry : plan.append) {
        if (entry->kind != core::EntryKind::configuration) continue;
        if (const auto found = core::decode_configuration(entry->payload)) return found->cluster;
    }
    return {};
}

Result<EntryMark> RocksLogStore::mark_of(core::LogIndex index) const {
    if (index == last_.id.index) return last_;
    if (index == head_.base.id.index) return EntryMark{head_.base.id, head_.base_checksum};
    rocksdb::PinnableSlice row;
    auto status =
        database_.db->Get({}, database_.db->DefaultColumnFamily(), entry_key(index), &row);
    if (!status.ok()) return to_error(status, database_.path);
    const auto decoded = decode_entry(index, row.ToStringView());
    if (!decoded) {
        return make_error(Errc::damaged, database_.path.string() + ": entry " +
                                             std::to_string(index.raw()) + " is damaged");
    }
    return EntryMark{decoded->entry.id, decoded->entry.checksum};
}

core::LogIndex RocksLogStore::base_index(const Plan& plan) const {
    if (plan.reset) return plan.reset->id.index;
    return purge_ ? purge_->base.id.index : head_.base.id.index;
}

// The kernel may have dropped what was to be synced, so the next start is one after a loss of
// power, on whatever boot. If this fails as well, that start may find damage instead.
Result<void> RocksLogStore::fail_sync(Error error) {
    auto meta = meta_.meta();
    meta.life.boot_id.clear();
    static_cast<void>(meta_.write(std::move(meta), Durable::yes));
    return fail(std::move(error));
}

Result<void> RocksLogStore::fail(Error error) {
    if (failed_) return *failed_;
    if (error.code == Errc::no_space && held_.reserve) held_.reserve->release();
    failed_ = std::move(error);
    return *failed_;
}

}  // namespace mortise::storage
