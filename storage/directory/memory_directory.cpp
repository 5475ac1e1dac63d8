#include "storage/directory/memory_directory.hpp"

#include <algorithm>
#include <utility>

#include "core/base/checksum.hpp"
#include "core/locks/machine/machine_loader.hpp"

namespace mortise::storage {

namespace {

Error misuse(const std::string& what) {
    return {std::make_error_code(std::errc::invalid_argument), "memory: " + what};
}

void begin_at(const LogBase& base, MemoryDirectory& directory) {
    directory.entries.clear();
    directory.base = base;
}

// The run ended between the install of a state and the reset of the log.
bool is_reset_missing(const MemoryDirectory& directory) {
    const auto& applied = directory.applied;
    if (!directory.is_installed || applied == directory.base.id) return false;
    const auto& entries = directory.entries;
    return std::none_of(entries.begin(), entries.end(),
                        [&](const core::Entry& entry) { return entry.id == applied; });
}

}  // namespace

MemoryLogStore::MemoryLogStore(std::shared_ptr<MemoryDirectory> directory)
    : directory_{std::move(directory)} {}

Result<void> MemoryLogStore::write(std::span<const core::Write> writes) {
    if (failed_) return *failed_;
    for (const auto& one : writes) {
        if (auto done = write(one); !done) return done;
    }
    return {};
}

Result<bool> MemoryLogStore::write_at_once(const core::Write& write) {
    if (auto done = MemoryLogStore::write({&write, 1}); !done) return std::move(done).error();
    return true;
}

Result<void> MemoryLogStore::close() {
    auto& mark = directory_->unsynced;
    if (mark == core::Unsynced::entries) mark = core::Unsynced::nothing;
    return {};
}

Result<void> MemoryLogStore::write(const core::Write& write) {
    auto& entries = directory_->entries;
    if (write.unsynced) directory_->unsynced = *write.unsynced;
    if (write.hard_state) directory_->hard_state = *write.hard_state;
    if (write.reset) {
        if (write.reset->id.index <= directory_->base.id.index) return fail("cannot begin earlier");
        begin_at(*write.reset, *directory_);
    }
    if (write.truncate_from) {
        if (*write.truncate_from <= directory_->base.id.index)
            return fail("truncates what is purged");
        while (!entries.empty() && entries.back().id.index >= *write.truncate_from)
            entries.pop_back();
    }
    for (const auto& entry : write.append) {
        if (entry.id.index != directory_->last().index.next())
            return fail("an entry does not follow the log");
        if (!core::is_intact(entry)) return fail("an entry is damaged");
        entries.push_back(entry);
    }
    return {};
}

Result<void> MemoryLogStore::purge_to(const LogBase& base) {
    if (failed_) return *failed_;
    if (base.id.index <= directory_->base.id.index) return {};
    if (base.id.index > directory_->last().index) return fail("cannot purge what is not there");
    const auto count = base.id.index.raw() - directory_->base.id.index.raw();
    auto& entries = directory_->entries;
    if (entries[count - 1].id != base.id) return fail("purges to another entry");
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count));
    directory_->base = base;
    return {};
}

Result<void> MemoryLogStore::fail(const std::string& what) {
    failed_ = misuse(what);
    return *failed_;
}

Result<Opened> open_memory(const std::shared_ptr<MemoryDirectory>& directory,
                           const OpenOptions& options) {
    if (!directory->incarnation.is_set()) directory->incarnation = mint_incarnation(options);
    core::MachineLoader loader;
    bool sound = true;
    for (const auto& [key, value] : directory->rows)
        sound = sound && loader.add(key, value);
    auto machine = loader.finish(directory->applied.index);
    if (!sound || !machine)
        return make_error(Errc::damaged, "memory: the rows of the state do not fit together");
    if (is_reset_missing(*directory))
        begin_at({directory->applied, directory->configuration}, *directory);
    directory->boot_epoch = directory->boot_epoch.next();
    Opened opened;
    opened.lock = directory;
    opened.generation = {directory->incarnation, directory->boot_epoch};
    opened.state.raft = {directory->hard_state,
                         directory->base.id,
                         {directory->entries.begin(), directory->entries.end()},
                         directory->applied.index,
                         directory->base.configuration,
                         directory->unsynced};
    opened.state.machine = *std::move(machine);
    opened.state.countdowns = directory->countdowns;
    opened.log = std::make_unique<MemoryLogStore>(directory);
    opened.state_store = std::make_unique<MemoryStateStore>(directory);
    return opened;
}

Opened open_in_memory(const OpenOptions& options) {
    return open_memory(std::make_shared<MemoryDirectory>(), options).value();
}

core::Incarnation mint_incarnation(const OpenOptions& options, core::Incarnation former) {
    core::Checksum mixed;
    mixed.number(former.raw());
    for (const auto number : options.random)
        mixed.number(number);
    mixed.number(options.self.raw());
    const core::Incarnation minted{mixed.value()};
    return minted.is_set() ? minted : minted.next();
}

}  // namespace mortise::storage
