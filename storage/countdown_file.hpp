// What this node's countdowns have run (S4), in a file of its own: the databases would either sync
// it or lose it with the process.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "core/leases/countdowns.hpp"
#include "storage/files.hpp"

namespace mortise::storage {

class CountdownFile {
public:
    CountdownFile(std::filesystem::path path, FileProbe* probe);

    // None when there is no file, or not a whole one: to count again from nothing is late, but
    // never early.
    Result<std::vector<core::SavedCountdown>> load() const;
    Result<void> save(std::span<const core::SavedCountdown> countdowns);

private:
    std::filesystem::path path_;
    FileProbe* probe_;
};

}  // namespace mortise::storage
