// Saves this node's countdowns (S4) in files of their own: the databases would either sync them or
// lose them with the process. Two files are written in turns, so that one is complete whenever the
// process is killed. Both stay open, because they are written often, and also when the process has
// no free descriptors.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/leases/countdowns.hpp"
#include "storage/files/files.hpp"

namespace mortise::storage {

class CountdownFile {
public:
    // Creates "countdowns" and "countdowns.2" in that directory if they are missing.
    static Result<CountdownFile> open(const std::filesystem::path& directory, FileProbe* probe);

    // The saved countdowns; none if neither file is complete. Counting again from zero ends a timer
    // late, but never early.
    [[nodiscard]] const core::SavedCountdowns& found() const { return found_; }
    Result<void> save(const core::SavedCountdowns& countdowns);

private:
    static constexpr std::size_t files = 2;

    explicit CountdownFile(std::array<File, files> opened) : files_{std::move(opened)} {}
    Result<void> load();

    std::array<File, files> files_;
    std::uint64_t newest_ = 0;  // the number of the newest save; its parity selects the file
    core::SavedCountdowns found_;
};

}  // namespace mortise::storage
