// What this node's countdowns have run (S4), in files of their own: the databases would either sync
// it or lose it with the process. There are two, written in turns, so that one is whole whenever
// the process is killed; both stay open, since they are written often, and also when the process
// has no descriptor left.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/leases/countdowns.hpp"
#include "storage/files.hpp"

namespace mortise::storage {

class CountdownFile {
public:
    // Makes what is missing of "countdowns" and "countdowns.2" in that directory.
    static Result<CountdownFile> open(const std::filesystem::path& directory, FileProbe* probe);

    // What was found: none when neither file is whole. To count again from nothing is late, but
    // never early.
    [[nodiscard]] const std::vector<core::SavedCountdown>& found() const { return found_; }
    Result<void> save(std::span<const core::SavedCountdown> countdowns);

private:
    static constexpr std::size_t files = 2;

    explicit CountdownFile(std::array<File, files> opened) : files_{std::move(opened)} {}
    Result<void> load();

    std::array<File, files> files_;
    std::uint64_t newest_ = 0;  // the number of the newest save; its parity says in which file
    std::vector<core::SavedCountdown> found_;
};

}  // namespace mortise::storage
