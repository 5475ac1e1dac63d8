// Leader election: one of several candidates leads, and everybody learns who and where it is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <mortise/fencing_token.hpp>
#include <mortise/hold.hpp>
#include <mortise/node_id.hpp>
#include <mortise/options.hpp>
#include <mortise/subscription.hpp>

namespace mortise {

class Election;
class Node;

namespace detail {
class NodeRuntime;
// start.hpp has it as well.
// NOLINTNEXTLINE(readability-redundant-declaration)
[[nodiscard]] const std::shared_ptr<NodeRuntime>& runtime_of(const Election& election);
}  // namespace detail

struct Leader {
    NodeId node = 0;
    std::string value{};   // what it has published, for example an address
    FencingToken token{};  // of its hold; greater than those of all leaders before it

    friend bool operator==(const Leader&, const Leader&) = default;
};

// Called on a thread of the node, one call at a time and in order; empty while nobody leads. It
// must not throw; exceptions are dropped.
using LeaderSink = std::function<void(const std::optional<Leader>&)>;

// An election is a lock (S35): the leader holds the name exclusively and has published its value
// under that hold, so it is bound to its lease like any holder. Whoever leads must check the hold
// and pass its token on, as with every lock.
//
// A leader without its value yet is not shown, and the value of a former leader is never shown for
// the present one: the value that is stored with the name begins with the token of its writer. Do
// not write it with Hold::set_value().
//
// With AcquireOptions::locker, use one campaign at a time per locker. A second campaign of a locker
// that leads shares the grant and replaces the published value, and resign() of either hold
// removes the value while the other hold still leads.
//
// All members are thread-safe, except construction, assignment and destruction. It may outlive the
// Node; calls then fail with node_stopped. Errors are those of Node.
class Election {
public:
    static constexpr std::size_t value_bytes_max = 4'000;

    // Does not ask the cluster. An invalid name makes the calls fail with invalid_argument.
    Election(const Node& node, std::string_view name);
    Election(const Election&);
    Election(Election&&) noexcept;
    Election& operator=(const Election&);
    Election& operator=(Election&& other) noexcept;
    ~Election();

    // Waits until this candidate leads, like Node::acquire(), and publishes its value, which may be
    // empty. It leads until the hold is released, best with resign(), or lost. options.mode and
    // options.caching are ignored. invalid_argument if the value is too long. If the value could
    // not be published the hold is given back, and the call fails with the errors of
    // Hold::set_value().
    [[nodiscard]] Hold campaign(std::string_view value, const AcquireOptions& options = {});
    [[nodiscard]] Hold campaign(std::string_view value, std::error_code& ec);
    [[nodiscard]] Hold campaign(std::string_view value, const AcquireOptions& options,
                                std::error_code& ec);

    // Publishes another value while it leads: leader() shows it, and observers are told of each
    // value in order. The hold must come from campaign() of this name. Blocks for at most
    // call_timeout. Errors are those of Hold::set_value(); not_held if it is a hold of another
    // name. After outcome_unknown publish again.
    void publish(const Hold& hold, std::string_view value);
    void publish(const Hold& hold, std::string_view value, std::error_code& ec);

    // Withdraws the value and releases the hold, which must come from campaign(). Blocks for at
    // most twice call_timeout. The errors are those of Hold::release(); not_held if it is a hold of
    // another name. After a plain release the value stays, and is shown to nobody.
    void resign(Hold& hold);
    void resign(Hold& hold, std::error_code& ec);

    // The present leader; empty if nobody leads. Asks the cluster, and blocks for at most
    // call_timeout.
    [[nodiscard]] std::optional<Leader> leader();
    [[nodiscard]] std::optional<Leader> leader(std::error_code& ec);

    // Calls the sink with the present leader, whenever another one leads or nobody does any more,
    // and whenever the leader publishes another value, until the Subscription ends. Each leader is
    // told in the order of their tokens, and once with each value; one that led, or a value that
    // was there, only while this node was cut off may be left out. Blocks like Node::observe().
    [[nodiscard]] Subscription observe(LeaderSink sink);
    [[nodiscard]] Subscription observe(LeaderSink sink, std::error_code& ec);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    friend const std::shared_ptr<detail::NodeRuntime>& detail::runtime_of(const Election&);

    std::shared_ptr<detail::NodeRuntime> runtime_;
    std::string name_;
};

}  // namespace mortise
