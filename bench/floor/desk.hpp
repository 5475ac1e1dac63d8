// What the callers of one process want, until it is committed.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace mortise::bench {

struct Command {
    std::array<char, 48> bytes{};
};

// Thread-safe; take() and done() belong to the thread that serves it.
class Desk {
public:
    Desk();
    ~Desk();
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    // Returns when the command is committed. Throws when it never will be.
    void commit(const Command& command);
    // The same without waiting.
    void submit(const Command& command);

    // Readable while there is something to take.
    [[nodiscard]] int descriptor() const { return event_; }
    // Appends all that was submitted since the last call.
    void take(std::vector<char>& bytes);
    // So many more are committed, in their order.
    void done(std::size_t commands);
    // Nothing will be committed any more.
    void fail();

private:
    struct Waiting {
        std::mutex mutex;
        std::condition_variable ended;
        bool done = false;
        bool failed = false;
    };

    void put(const Command& command, Waiting* waiting);
    static void tell(Waiting* waiting, bool failed);

    int event_;
    std::mutex mutex_;
    std::vector<char> bytes_;
    std::deque<Waiting*> waiting_;  // of each that was put and is not done; null: nobody waits
    bool failed_ = false;
};

}  // namespace mortise::bench
