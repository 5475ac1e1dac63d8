// The machine of one node, which can lose its power: its next boot has another id, and what was
// written to the log of the node since a moment is damaged. The page cache of this machine stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace mortise::cli {

class Machine {
public:
    // Throws Failure{denied} if no process can be shown another boot id.
    static void check_that_one_can_boot();

    // The directory of the node, and a file for the id of the boot.
    Machine(std::filesystem::path data, std::filesystem::path boot_id);

    // What a command begins with, for its process to see this boot.
    [[nodiscard]] std::vector<std::string> runs() const;
    // From now on nothing of the log is synced. Until then everything was.
    void note_synced();
    // The process has ended. Returns the number of bytes that were not synced; any of them are
    // lost.
    std::uint64_t lose_power();

private:
    void boot();

    std::filesystem::path data_;
    std::filesystem::path boot_id_;
    std::mt19937_64 random_;
    std::filesystem::path log_;  // the newest one
    std::uint64_t synced_ = 0;   // up to here
};

}  // namespace mortise::cli
