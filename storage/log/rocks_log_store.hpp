// The log in RocksDB. A write is one batch, and includes what was purged since the last write. It
// is synced, so that only the write in progress is unsynced in the write-ahead log; or else all
// unsynced writes are the newest ones, and are in the newest file. A write that is long for the
// memtables is several of them, one after the other.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "storage/files/held.hpp"
#include "storage/files/meta_file.hpp"
#include "storage/log/log_rows.hpp"
#include "storage/rocks/ends_early.hpp"
#include "storage/rocks/rocks_settings.hpp"

namespace rocksdb {
class WriteBatch;
}

namespace mortise::storage {

// What recovery has found.
struct RecoveredLog {
    core::HardState hard_state;
    LogHead head;
    std::vector<core::Entry> entries;

    [[nodiscard]] EntryMark base() const { return {head.base.id, head.base_checksum}; }
    [[nodiscard]] EntryMark last() const;
    // Not set if the node never was a member.
    [[nodiscard]] core::ClusterId cluster() const;
};

class RocksLogStore final : public LogStore {
public:
    // Opens the database and reads all of it. It is created if `meta` says that nothing was ever
    // written. What is behind `ends` is left out.
    static Result<RocksDatabase> open(const std::filesystem::path& path,
                                      const std::shared_ptr<rocksdb::FileSystem>& files,
                                      const Meta& meta, const LogRoom& room,
                                      const FileEnds& ends = {});
    // Errc::damaged unless everything that `meta` witnesses is present, complete and in order.
    static Result<RecoveredLog> recover(RocksDatabase& database, const Meta& meta);

    // `meta` must already contain what is in `found`.
    RocksLogStore(Held held, RocksDatabase database, MetaFile meta, const RecoveredLog& found);

    Result<void> write(std::span<const core::Write> writes) override;
    Result<bool> write_at_once(const core::Write& write) override;
    Result<void> sync() override;
    Result<void> close() override;
    Result<void> purge_to(const LogBase& base) override;

private:
    // The combined effect of several writes.
    struct Plan {
        std::optional<core::HardState> hard_state;
        std::optional<LogBase> reset;
        std::optional<core::LogIndex> truncate_from;  // of the stored entries that stay
        std::vector<const core::Entry*> append;
        bool synced = false;
        std::optional<core::Unsynced> unsynced;  // the new mark

        [[nodiscard]] std::uint64_t bytes() const;  // that a memtable needs for the entries
        // Leaves at most so many bytes of entries, or one entry, and returns the others.
        [[nodiscard]] std::vector<const core::Entry*> cut_after(std::uint64_t bytes);
    };
    struct Purge {
        LogBase base;
        std::uint64_t checksum = 0;
    };

    enum class Wait : bool { no, yes };

    [[nodiscard]] Result<Plan> plan(std::span<const core::Write> writes) const;
    Result<void> add(const core::Write& write, Plan& plan) const;
    Result<void> refuse_unfit(const core::Write& write, const Plan& plan) const;
    Result<void> carry_out_in_pieces(Plan plan);
    // False if it would have to wait, and may not: then nothing was done.
    Result<bool> carry_out(const Plan& plan, Wait wait);
    Result<bool> write_batch(const Plan& plan, const EntryMark& kept, Wait wait);
    [[nodiscard]] bool is_marked() const;
    Result<void> sync_all();
    [[nodiscard]] bool is_file_full(const Plan& plan) const;
    Result<void> begin_file();
    Result<void> check_held();
    [[nodiscard]] Result<EntryMark> kept_of(const Plan& plan) const;
    Result<void> lower_witness(const Plan& plan, const EntryMark& kept);
    void put(const Plan& plan, const EntryMark& kept, rocksdb::WriteBatch& batch) const;
    void put_base(const LogBase& base, std::uint64_t checksum, rocksdb::WriteBatch& batch) const;
    void move_base(const LogBase& base, std::uint64_t checksum);
    Result<void> witness(const Plan& plan);
    [[nodiscard]] static core::ClusterId cluster_of(const Plan& plan);
    Result<void> drop_purged_files();
    void grow();
    [[nodiscard]] Result<EntryMark> mark_of(core::LogIndex index) const;
    [[nodiscard]] core::LogIndex base_index(const Plan& plan) const;
    Result<void> fail(Error error);
    Result<void> fail_sync(Error error);

    std::mutex mutex_;  // of the rest, for sync(), which does not hold it while it waits
    Held held_;         // the lock is checked after each write; a full disk releases the reserve
    RocksDatabase database_;  // log/, opened by a start
    MetaFile meta_;     // the witness: lowered before a write that removes entries, raised after it
    LogHead head_;      // as stored and synced; changes with a write that has a reset or a purge
    EntryMark last_;    // the last entry, or the base, as stored; changes with each write
    EntryMark synced_;  // the same as of the last sync
    bool is_unsynced_ = false;  // since the last sync has begun, something was written without one
    std::optional<Purge> purge_;  // set by purge_to(), and part of the next write
    // Set when the base moves, and by a start whose log has one: the next purge removes files.
    bool has_purged_files_ = false;
    std::uint64_t memtable_bytes_;  // RocksDB's present setting; grow() raises it
    // In the present memtable, and so in the newest file; RocksDB begins another one by itself when
    // a memtable is full.
    std::uint64_t file_bytes_ = 0;
    std::uint64_t file_bytes_max_;
    std::optional<Error> failed_;  // the first error, which all later calls return
};

}  // namespace mortise::storage
