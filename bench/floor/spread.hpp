// The same log with its callers in all three processes, as those of Mortise are: a follower passes
// what its callers want on to the leader, and the leader says what is committed. One thread serves
// each process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/floor/desk.hpp"
#include "bench/floor/log_file.hpp"
#include "bench/floor/socket.hpp"

namespace mortise::bench {

// What precedes the bytes of a message in both directions.
struct Heading {
    std::uint32_t bytes = 0;      // of commands: of an entry, or forwarded
    std::uint32_t committed = 0;  // of the receiver's commands, since the last message
    std::uint64_t durable = 0;    // on the sender's disk, of all entries
    std::uint64_t ends = 0;       // the sender has no callers any more
};

// A connection with one of the others.
class Link {
public:
    explicit Link(Socket socket) : socket_{std::move(socket)} {}

    void send(const Heading& heading, const std::vector<char>& bytes);
    // Takes what has arrived and calls `take(heading, bytes)` for each message. False: the other
    // end has closed.
    template <class Take>
    [[nodiscard]] bool receive(const Take& take);
    [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    // Says that nothing more is sent.
    void end() { socket_.end(); }

private:
    Socket socket_;
    std::vector<char> out_;
    std::vector<char> in_;
    std::uint64_t sent_ = 0;
};

struct SpreadTask {
    std::filesystem::path directory;
    std::size_t callers = 0;  // of all three processes
    bool awaited = true;
    double warm_up = 0;
    double seconds = 0;
};

// Prints one line of JSON for each of the three processes. Forks: call it before there are threads.
// Throws when the log cannot go on.
void run_spread(const SpreadTask& task);

}  // namespace mortise::bench
