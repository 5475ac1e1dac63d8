// The resource for which the workers of the demonstration contend: a store that compares fencing
// tokens, and the log of everything that happened to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <mortise/fencing_token.hpp>
#include <mortise/node_id.hpp>

namespace mortise::cli {

struct LogRecord {
    enum class Kind : std::uint8_t {
        write,  // a worker's attempt
        lost,   // a worker was notified that its hold is lost
        kill,
        restart,
        partition,
        heal,
        power_cut,
        era,  // of the cluster; the node means nothing
    };

    Kind kind = Kind::write;
    // The machine's clock, which all processes share, as the worker read it. For a write, the
    // worker found its hold valid before and after this time.
    std::chrono::nanoseconds at{};
    NodeId node = 0;
    int worker = 0;
    std::string lock;
    FencingToken token;
    bool claims_valid = true;  // false: the worker knows that it is late, and writes nevertheless
    bool accepted = false;
};

class FencedLog {
public:
    // Each record is also written to a file, as a line of JSON.
    explicit FencedLog(const std::filesystem::path& file);

    // For a write, decides whether it is accepted, and returns that. It is refused if a greater
    // token was seen for its lock.
    bool add(LogRecord record);
    [[nodiscard]] const std::vector<LogRecord>& records() const { return records_; }

private:
    std::ofstream file_;
    std::vector<LogRecord> records_;
    std::map<std::string, FencingToken> newest_;
};

}  // namespace mortise::cli
