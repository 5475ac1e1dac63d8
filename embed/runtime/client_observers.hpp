// The observers of this node's clients (transport/clients/client_service.hpp). A client asks again
// and again for what comes next; a slow one is one that asks late. It runs on the core thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>

#include "embed/runtime/ahead_observers.hpp"
#include "transport/clients/client_service.hpp"

namespace mortise::core {
class NodeCore;
}

namespace mortise::detail {

class ClientObservers {
public:
    // It outlives the observers. The functions are called on the core thread, and `core` only while
    // the node runs.
    struct Source {
        asio::io_context& io;
        std::function<const core::NodeCore&()> core;
        std::function<bool()> is_ready;
        AheadObservers& ahead;
    };
    explicit ClientObservers(Source source);
    ~ClientObservers();
    ClientObservers(const ClientObservers&) = delete;
    ClientObservers& operator=(const ClientObservers&) = delete;

    [[nodiscard]] transport::ClientObserver add(core::ObservedNames names, core::Position from);
    // Answers those who wait and for whom there is something new: a limited amount of work (P10).
    // True if there is more to do at once.
    [[nodiscard]] bool tell();

private:
    class One;

    std::shared_ptr<const Source> source_;
    std::vector<std::weak_ptr<One>> all_;
    std::size_t next_ = 0;  // whose turn it is
};

}  // namespace mortise::detail
