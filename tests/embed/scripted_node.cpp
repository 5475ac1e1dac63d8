#include "tests/embed/scripted_node.hpp"

#include <chrono>

#include "embed/holds/lease.hpp"
#include "embed/threads/call_gate.hpp"

namespace mortise {

Node::Node(Config /*config*/) : runtime_{std::make_shared<detail::NodeRuntime>()} {}
Node::~Node() = default;

namespace detail {

namespace {

NodeRuntime::Record grant(const AcquireOrder& order, std::uint64_t token) {
    constexpr core::Nanoseconds second = std::chrono::seconds{1};
    auto lease = std::make_shared<Lease>(core::SessionId{1}, core::Instant::never(), second);
    auto gate = std::make_shared<CallGate>([] {}, second, nullptr);
    core::Acquired granted;
    granted.parts.push_back(
        {order.name, to_core(order.options.mode), core::FencingToken{token}, {}});
    return std::make_shared<HoldRecord>(std::move(granted), std::move(lease), std::move(gate));
}

}  // namespace

void NodeRuntime::will_answer(std::vector<std::error_code> answers) {
    state_.with([&](State& state) { state.answers.assign(answers.begin(), answers.end()); });
}

Hold NodeRuntime::answer(const AcquireOrder& order, std::error_code& ec) {
    return state_.with([&](State& state) -> Hold {
        state.orders.push_back(order);
        ec.clear();
        if (!state.answers.empty()) {
            ec = state.answers.front();
            state.answers.pop_front();
            return {};
        }
        state.grants.push_back(grant(order, state.grants.size() + 1));
        return HoldRecord::hold_on(state.grants.back());
    });
}

void NodeRuntime::on_not_held(std::string_view name) {
    state_.with([&](State& state) { state.not_held.emplace_back(name); });
}

std::vector<AcquireOrder> NodeRuntime::orders() const {
    return state_.with([](const State& state) { return state.orders; });
}

std::vector<NodeRuntime::Record> NodeRuntime::grants() const {
    return state_.with([](const State& state) { return state.grants; });
}

std::vector<std::string> NodeRuntime::not_held() const {
    return state_.with([](const State& state) { return state.not_held; });
}

Hold acquire(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order, std::error_code& ec,
             LockInfo* /*busy*/) {
    return node->answer(order, ec);
}

const std::shared_ptr<NodeRuntime>& runtime_of(const Node& node) {
    return NodeRuntime::shared(node);
}

ThreadOwners& thread_owners(NodeRuntime& node) {
    return node.owners;
}

Locker new_locker(NodeRuntime& /*node*/) {
    return Locker{};
}

bool is_removed(NodeRuntime& /*node*/) {
    return false;
}

std::string cluster_id(NodeRuntime& node) {
    return node.cluster;
}

void report_not_held(NodeRuntime& node, std::string_view name) {
    node.on_not_held(name);
}

}  // namespace detail
}  // namespace mortise
