// The one thing that the console can do: break a lock.
#pragma once

#include <functional>
#include <string>

#include <httplib.h>

#include <mortise/node.hpp>

namespace mortise::console {

// Answers POST /api/v1/break, whose head was found good. `note` is told of each lock that was
// broken.
class BreakApi {
public:
    BreakApi(Node& node, bool may_break, std::function<void(const std::string&)> note)
        : node_{node}, may_break_{may_break}, note_{std::move(note)} {}

    void answer(const httplib::Request& request, httplib::Response& response);

private:
    Node& node_;
    const bool may_break_;
    const std::function<void(const std::string&)> note_;
};

}  // namespace mortise::console
