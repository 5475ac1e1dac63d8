// A connection of a client. Whatever it does or leaves undone, each step with it has an end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <httplib.h>

#include "embed/http/wire.hpp"

namespace mortise::http {

// One thread serves it; shut_down(), phase() and since() may be called on any thread.
class Connection final : public httplib::Stream {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::seconds idle_max{30};  // between two requests

    // What the thread does with it at the moment.
    enum class Phase : std::uint8_t {
        waiting,    // for a request, or for the rest of one
        answering,  // the request is complete, and the node works on it
        sending,    // the answer
        streaming,  // events
    };

    explicit Connection(std::unique_ptr<Wire> wire) noexcept : wire_{std::move(wire)} {}

    enum class Head { complete, malformed, too_large, too_slow, gone };
    // Reads the head of the next request, and keeps what httplib may see (admitted_head()). `gone`
    // if the other side has closed, or sent nothing for a while.
    [[nodiscard]] Head read_head();
    // The request is complete.
    void begin_answer() { enter(Phase::answering); }
    // The answer that is being sent is the last one.
    void end_after_answer() { is_last_ = true; }
    [[nodiscard]] bool is_last() const { return is_last_; }
    // From here on each write has the time that otherwise a whole answer has.
    void begin_stream() { enter(Phase::streaming); }
    // Gives the socket away, to whoever goes on with it without a thread. What httplib answers
    // from here on is dropped, and the connection ends.
    [[nodiscard]] std::unique_ptr<Wire> give_away();
    // The last bytes are on their way: waits a moment for the other side, so that it reads an
    // answer that was sent before its request was read to the end.
    void linger() noexcept;

    void shut_down() noexcept;
    [[nodiscard]] const Wire& wire() const { return *wire_; }
    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    // When it came into this phase.
    [[nodiscard]] Clock::time_point since() const noexcept {
        return Clock::time_point{Clock::duration{since_}};
    }

    // --- as httplib uses it
    [[nodiscard]] bool is_readable() const override { return read_ < buffer_.size(); }
    // False also if the other side has gone.
    [[nodiscard]] bool is_writable() const override;
    ssize_t read(char* bytes, std::size_t size) override;
    ssize_t write(const char* bytes, std::size_t size) override;
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    // httplib refuses numbers that select() cannot take. It is not used here, so they are fine.
    [[nodiscard]] socket_t socket() const override { return 0; }

private:
    void enter(Phase phase) noexcept;
    // Reads what is there, or arrives before the deadline. False at the end, and after it.
    [[nodiscard]] bool receive(Clock::time_point deadline);
    // The bytes before `end` are a head.
    [[nodiscard]] Head admit_head(std::size_t end);

    std::unique_ptr<Wire> wire_;
    std::mutex giving_;     // while shut_down() may be called
    std::string buffer_;    // what was received and belongs to the present or the next request
    std::size_t read_ = 0;  // of it
    Clock::time_point deadline_{};  // of the present request, or of sending its answer
    bool is_last_ = false;
    std::atomic<Phase> phase_{Phase::waiting};
    std::atomic<Clock::rep> since_{Clock::now().time_since_epoch().count()};
};

}  // namespace mortise::http
