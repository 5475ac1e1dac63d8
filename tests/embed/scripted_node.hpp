// A node which answers each acquire as the test has said, and grants all others: it replaces the
// Node of the library and <mortise/detail/start.hpp>.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "embed/holds/hold_record.hpp"
#include "embed/holds/thread_owners.hpp"
#include "embed/threads/guarded.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/node.hpp>

namespace mortise::detail {

// Thread-safe.
class NodeRuntime {
public:
    using Record = std::shared_ptr<HoldRecord>;

    static NodeRuntime& of(const Node& node) { return *runtime_of(node); }
    static const std::shared_ptr<NodeRuntime>& shared(const Node& node) { return node.runtime_; }

    // In this order; no error means that the name is taken.
    void will_answer(std::vector<std::error_code> answers);

    [[nodiscard]] Hold answer(const AcquireOrder& order, std::error_code& ec);
    void on_not_held(std::string_view name);

    // The requests, the grants, and the refused unlocks, oldest first.
    [[nodiscard]] std::vector<AcquireOrder> orders() const;
    [[nodiscard]] std::vector<Record> grants() const;
    [[nodiscard]] std::vector<std::string> not_held() const;

    ThreadOwners owners;
    std::string cluster{"a"};  // its id

private:
    struct State {
        std::deque<std::error_code> answers;
        std::vector<AcquireOrder> orders;
        std::vector<Record> grants;
        std::vector<std::string> not_held;
    };

    Guarded<State> state_;
};

}  // namespace mortise::detail
