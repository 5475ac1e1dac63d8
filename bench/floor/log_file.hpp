// A file that only grows, and that is on disk after every append; or in the page cache, if the run
// measures a cluster that acknowledges from memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace mortise::bench {

class LogFile {
public:
    // Creates it. Throws std::system_error, as does append_durably().
    explicit LogFile(const std::filesystem::path& path);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    void append_durably(std::span<const char> bytes);

private:
    int file_;
    bool syncs_;
};

}  // namespace mortise::bench
