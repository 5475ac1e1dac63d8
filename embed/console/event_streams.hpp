// Live events for browsers: server-sent events from Node::observe and Node::on_event.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <httplib.h>

#include <mortise/node.hpp>

namespace mortise::console {

class EventStream;

// Thread-safe.
class EventStreams {
public:
    static constexpr std::size_t streams_max = 8;

    explicit EventStreams(Node& node) : node_{node} {}

    // Answers with a stream, which the connection's thread then writes until its end. Throws the
    // error of the node, if it refuses an observer.
    void answer(const httplib::Request& request, httplib::Response& response);
    [[nodiscard]] std::size_t count();
    // Ends all streams and refuses further ones.
    void end_all() noexcept;

private:
    [[nodiscard]] bool add(const std::shared_ptr<EventStream>& stream);

    Node& node_;
    std::mutex mutex_;
    bool has_ended_ = false;
    std::vector<std::weak_ptr<EventStream>> streams_;
};

}  // namespace mortise::console
