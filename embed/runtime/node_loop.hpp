// What the core thread of a node runs: the loop of a member, or that of a client node. All members
// are called on the core thread, or before it runs and after it has ended.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "embed/threads/call_gate.hpp"
#include <mortise/info.hpp>

namespace mortise::transport {
class TlsCredentials;
}

namespace mortise::detail {

class NodeLoop {
public:
    virtual ~NodeLoop() = default;

    // Starts with calls that were taken from the gate before.
    virtual void begin(SubmittedCalls calls) = 0;
    virtual void take_calls() = 0;
    virtual void set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials) = 0;
    // The node stops for good (P5).
    virtual void fail(const std::string& reason) = 0;
    // Releases everything, and calls `done`, perhaps at once.
    virtual void begin_close(std::function<void()> done) = 0;
    // Closes sockets and timers. This loop does nothing any more.
    virtual void end() = 0;
    // Stops the node for good without closing, cancelling or sending anything: the program has
    // closed its descriptors.
    virtual void abandon(const std::string& reason) = 0;
    [[nodiscard]] virtual Status status() const = 0;
    [[nodiscard]] virtual Metrics metrics() const = 0;
    // A page of the sessions with greater ids, ordered; empty after the last one, and on a node
    // that keeps none.
    [[nodiscard]] virtual std::vector<SessionInfo> sessions(SessionId after) const = 0;
    // Of a member; a client node knows nothing of it.
    [[nodiscard]] virtual Activity activity(std::string_view /*prefix*/) const { return {}; }
    // True if it was removed from its cluster, as far as this node knows.
    [[nodiscard]] virtual bool is_removed() const = 0;
};

}  // namespace mortise::detail
