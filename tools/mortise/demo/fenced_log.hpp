// The resource that the workers of the demonstration fight for: a store that compares fencing
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
        lost,   // a worker was told that its hold is lost
        kill,
        restart,
        partition,
        heal,
    };

    Kind kind = Kind::write;
    // As the worker read the machine's clock, which all processes share. Of a write, between two
    // looks at its hold, both of which found it valid.
    std::chrono::nanoseconds at{};
    NodeId node = 0;
    int worker = 0;
    std::string lock;
    FencingToken token;
    bool claims_valid = true;  // false: the worker knows that it is late, and tries all the same
    bool accepted = false;
};

class FencedLog {
public:
    // Also written to a file, a line of JSON for each record.
    explicit FencedLog(const std::filesystem::path& file);

    // Decides whether a write is accepted: not if a greater token was seen for its lock. True if
    // so.
    bool add(LogRecord record);
    [[nodiscard]] const std::vector<LogRecord>& records() const { return records_; }

private:
    std::ofstream file_;
    std::vector<LogRecord> records_;
    std::map<std::string, FencingToken> newest_;
};

}  // namespace mortise::cli
