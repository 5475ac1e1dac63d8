// The one thing that the console can do: break a lock.
#pragma once

#include <atomic>

#include <httplib.h>

#include <mortise/detail/side_log.hpp>
#include <mortise/node.hpp>

namespace mortise::console {

// Answers POST /api/v1/break, whose head was found good. The log has a line for each lock that was
// broken.
class BreakApi {
public:
    // Breaks that wait for the cluster at a time; the next one is refused. A connection that waits
    // for its answer is not closed to make room, so breaks must not take all connections.
    static constexpr int breaks_max = 4;

    BreakApi(Node& node, bool may_break, const detail::SideLog& log)
        : node_{node}, may_break_{may_break}, log_{log} {}

    void answer(const httplib::Request& request, httplib::Response& response);

private:
    Node& node_;
    const bool may_break_;
    const detail::SideLog& log_;
    std::atomic<int> breaks_ = 0;
};

}  // namespace mortise::console
