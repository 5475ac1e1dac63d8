// Connections that no thread serves: answers that are waited for, and streams. One thread writes to
// all of them, and notices when a client has gone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "embed/http/descriptor.hpp"
#include "embed/http/wire.hpp"

namespace mortise::http {

// What is said on such a connection. The members are called on the loop's thread.
class Parked {
public:
    enum class Gone : std::uint8_t {
        closed,  // the other side has closed its end, or its system says that it is closed there
        silent,  // nothing is known of the other side: it may still believe what it was told
    };

    Parked() = default;
    virtual ~Parked() = default;
    Parked(const Parked&) = delete;
    Parked& operator=(const Parked&) = delete;

    // No other one has it, before or after, unlike an address.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    // Appends what there is to say now. `all_received`: the other side's system has acknowledged
    // everything that was said before. False if that was the last of it.
    [[nodiscard]] virtual bool say(std::string& text, bool all_received) = 0;
    // Nothing more can be said. Called once, unless say() has returned false.
    virtual void gone(Gone how) noexcept = 0;

private:
    static inline std::atomic<std::uint64_t> last_number = 0;
    const std::uint64_t number_ = ++last_number;
};

// Wakes the loop; may outlive it. Thread-safe.
class Waker {
public:
    // Throws std::system_error without a descriptor.
    Waker();

    // say() is called soon, of the parked one with that number. Of none: the loop looks around.
    void wake(std::uint64_t number = 0) noexcept;

private:
    friend class ParkedLoop;
    [[nodiscard]] std::vector<std::uint64_t> take() noexcept;

    const Descriptor event_;
    std::mutex mutex_;
    bool is_woken_ = false;
    std::vector<std::uint64_t> numbers_;
};

class ParkedLoop {
public:
    struct Options {
        const char* thread_name = "mortise-parked";
        std::size_t parked_max = 1'024;
        // Called about four times a second while it returns true, or something is parked.
        std::function<bool()> look = [] { return false; };
    };

    // Throws std::system_error if there is no thread or no descriptor.
    explicit ParkedLoop(Options options);
    // What is parked is told `closed`, and its connections end.
    ~ParkedLoop();
    ParkedLoop(const ParkedLoop&) = delete;
    ParkedLoop& operator=(const ParkedLoop&) = delete;

    // Each of these is called on any thread.
    [[nodiscard]] const std::shared_ptr<Waker>& waker() const { return waker_; }
    [[nodiscard]] bool has_room() const;
    [[nodiscard]] std::size_t most() const { return options_.parked_max; }
    [[nodiscard]] std::size_t count() const;
    // say() is called soon. Without room or memory, or at the end, it is told `closed` at once.
    void park(std::shared_ptr<Parked> parked, std::unique_ptr<Wire> wire);

private:
    struct Place;
    class Places;

    // False without room or memory, and at the end.
    bool comes(const std::shared_ptr<Parked>& parked, std::unique_ptr<Wire> wire) noexcept;
    void run();
    // False at the end.
    bool run_once(Places& places);
    bool take_coming(Places& places);

    const Options options_;
    const std::shared_ptr<Waker> waker_;
    const Descriptor epoll_;
    mutable std::mutex mutex_;
    bool is_ending_ = false;
    std::size_t count_ = 0;  // with those that are coming
    std::vector<std::unique_ptr<Place>> coming_;
    bool is_watching_ = false;                        // used by the thread
    std::chrono::steady_clock::time_point looked_{};  // likewise
    std::thread thread_;
};

}  // namespace mortise::http
