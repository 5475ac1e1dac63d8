// What the other members say of themselves: their versions, whether they are ready, and why not. A
// node knows of them only whether they are connected, so a thread asks them, as `mortise status`
// does. It asks while somebody looks at the console.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <mortise/config.hpp>
#include <mortise/node.hpp>
#include <mortise/remote.hpp>

namespace mortise::console {

class MemberWatch {
public:
    using Clock = std::chrono::steady_clock;

    struct Seen {
        Clock::time_point at;
        bool answered = false;
        std::string problem;  // why it did not answer
        Status status;        // the last that it told of itself
        bool has_status = false;
    };

    // Throws std::system_error if there is no thread.
    MemberWatch(Node& node, TlsConfig tls);
    // Waits for an answer that is on its way, at most a second.
    ~MemberWatch();
    MemberWatch(const MemberWatch&) = delete;
    MemberWatch& operator=(const MemberWatch&) = delete;

    // What is known of the others, by id. Does not wait; the first call after a while begins to
    // ask. Thread-safe.
    [[nodiscard]] std::map<NodeId, Seen> seen();

private:
    void run();
    void ask_all();
    void ask(const MemberInfo& member);
    [[nodiscard]] bool wait_for_turn();
    [[nodiscard]] bool is_stopped();

    Node& node_;
    const TlsConfig tls_;
    const bool can_ask_;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
    std::optional<Clock::time_point> looked_at_;  // when somebody last looked
    std::map<NodeId, Seen> seen_;
    std::thread thread_;
};

}  // namespace mortise::console
