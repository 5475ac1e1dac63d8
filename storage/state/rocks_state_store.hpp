// The state in RocksDB, without a write-ahead log: a crash loses whole writes, the newest first,
// back to the last flush, or to a later one that RocksDB made by itself.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "core/node/node_state.hpp"
#include "storage/files/countdown_file.hpp"
#include "storage/files/held.hpp"
#include "storage/files/meta_file.hpp"
#include "storage/rocks/rocks_settings.hpp"
#include "storage/state/state_rows.hpp"
#include "storage/state/state_store.hpp"

namespace mortise::storage {

struct RecoveredState {
    AppliedRow about;
    core::LockMachine machine;
};

class RocksStateStore final : public StateStore {
public:
    // Opens the database and reads all of it. It is created if `may_create`.
    static Result<RocksDatabase> open(const std::filesystem::path& path,
                                      const std::shared_ptr<rocksdb::FileSystem>& files,
                                      bool may_create);
    // Errc::damaged unless it is a state of the directory with this incarnation. Writes nothing.
    static Result<RecoveredState> read(const RocksDatabase& database,
                                       core::Incarnation incarnation);
    // The same, and removes the rows of an install that did not become the state.
    static Result<RecoveredState> recover(RocksDatabase& database, const Meta& meta);

    RocksStateStore(Held held, RocksDatabase database, CountdownFile countdowns, AppliedRow about);

    Result<void> write(const StateWrite& write) override;
    Result<core::LogIndex> flush() override;
    Result<void> save_countdowns(const core::SavedCountdowns& countdowns) override;
    Result<std::unique_ptr<StateView>> view() override;
    Result<void> begin_install(const core::LogId& last,
                               const core::Configuration& configuration) override;
    Result<void> install(std::span<const core::Row> rows) override;
    Result<void> finish_install() override;

private:
    [[nodiscard]] bool goes_back(const core::LogId& to, const core::Configuration& of) const;
    Result<void> write(rocksdb::WriteBatch& batch);
    Result<void> misuse(const std::string& what);
    Result<void> fail(Error error);
    Result<void> check(const rocksdb::Status& status);

    Held held_;                 // its reserve is released when the disk is full
    RocksDatabase database_;    // state/, opened by a start
    CountdownFile countdowns_;  // open from the start on
    AppliedRow about_;          // the row set in force; set by each write() and finish_install()
    // The row set that is being installed, between begin_install() and finish_install().
    std::optional<AppliedRow> installing_;
    std::optional<Error> failed_;  // the first error, which all later calls return
};

}  // namespace mortise::storage
