// A data directory in memory, for nodes without a disk, and as a simple model of what the stores
// do. Everything is durable at once.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/directory/data_directory.hpp"

namespace mortise::storage {

struct MemoryDirectory {
    core::Incarnation incarnation;
    core::BootEpoch boot_epoch;  // of the newest run
    core::HardState hard_state;
    core::Unsynced unsynced = core::Unsynced::nothing;
    LogBase base;
    std::deque<core::Entry> entries;
    core::LogId applied;
    core::Configuration configuration;  // in force at `applied`
    bool is_installed = false;          // the state was installed, and nothing was written since
    std::map<std::string, std::string> rows;
    core::SavedCountdowns countdowns;

    [[nodiscard]] core::LogId last() const { return entries.empty() ? base.id : entries.back().id; }
};

class MemoryLogStore final : public LogStore {
public:
    explicit MemoryLogStore(std::shared_ptr<MemoryDirectory> directory);

    Result<void> write(std::span<const core::Write> writes) override;
    Result<bool> write_at_once(const core::Write& write) override;
    Result<void> sync() override { return {}; }
    Result<void> close() override;
    Result<void> purge_to(const LogBase& base) override;

private:
    Result<void> write(const core::Write& write);
    Result<void> fail(const std::string& what);

    std::shared_ptr<MemoryDirectory> directory_;
    std::optional<Error> failed_;
};

class MemoryStateStore final : public StateStore {
public:
    explicit MemoryStateStore(std::shared_ptr<MemoryDirectory> directory);

    Result<void> write(const StateWrite& write) override;
    Result<core::LogIndex> flush() override;
    Result<void> save_countdowns(const core::SavedCountdowns& countdowns) override;
    Result<std::unique_ptr<StateView>> view() override;
    Result<void> begin_install(const core::LogId& last,
                               const core::Configuration& configuration) override;
    Result<void> install(std::span<const core::Row> rows) override;
    Result<void> finish_install() override;

private:
    struct Installing {
        core::LogId last;
        core::Configuration configuration;
        std::map<std::string, std::string> rows;
    };

    [[nodiscard]] bool goes_back(const core::LogId& to, const core::Configuration& of) const;
    Result<void> fail(const std::string& what);

    std::shared_ptr<MemoryDirectory> directory_;
    std::optional<Installing> installing_;
    std::optional<Error> failed_;
};

// Begins the next run on it.
[[nodiscard]] Result<Opened> open_memory(const std::shared_ptr<MemoryDirectory>& directory,
                                         const OpenOptions& options);

// The incarnation of a new directory, which may replace a former one.
[[nodiscard]] core::Incarnation mint_incarnation(const OpenOptions& options,
                                                 core::Incarnation former = {});

}  // namespace mortise::storage
