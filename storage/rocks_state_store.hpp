// The state in RocksDB, without a write-ahead log: a crash takes back whole writes, the newest
// first, down to the last flush or a later one that RocksDB made by itself.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "core/node/node_core.hpp"
#include "storage/countdown_file.hpp"
#include "storage/directory_lock.hpp"
#include "storage/meta_file.hpp"
#include "storage/rocks_settings.hpp"
#include "storage/state_store.hpp"

namespace mortise::storage {

struct RecoveredState {
    core::LogId applied;
    core::LockMachine machine;
};

class RocksStateStore final : public StateStore {
public:
    // Opens the database, made when `may_create`, and reads all of it.
    static Result<RocksDatabase> open(const std::filesystem::path& path,
                                      const std::shared_ptr<rocksdb::FileSystem>& files,
                                      bool may_create);
    // Errc::damaged unless it is a state, and that of the directory that `meta` describes.
    static Result<RecoveredState> recover(RocksDatabase& database, const Meta& meta);

    RocksStateStore(std::shared_ptr<DirectoryLock> lock, RocksDatabase database,
                    CountdownFile countdowns, const Meta& meta, core::LogId applied);

    Result<void> write(const StateWrite& write) override;
    Result<core::LogIndex> flush() override;
    Result<void> save_countdowns(std::span<const core::SavedCountdown> countdowns) override;

private:
    Result<void> fail(Error error);
    Result<void> check(const rocksdb::Status& status);

    std::shared_ptr<DirectoryLock> lock_;
    RocksDatabase database_;
    CountdownFile countdowns_;
    core::Incarnation incarnation_;
    core::LogId applied_;
    std::optional<Error> failed_;
};

}  // namespace mortise::storage
