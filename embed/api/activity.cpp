// What is contended, and the rates of the last quarter of an hour: Node::activity().
#include <string>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/api/observe.hpp"
#include "embed/runtime/node_runtime.hpp"
#include "embed/threads/blocking_call.hpp"
#include <mortise/errc.hpp>
#include <mortise/node.hpp>

namespace mortise {

namespace detail {

namespace {

Activity activity(const std::shared_ptr<NodeRuntime>& node, std::string_view prefix,
                  ObserveFailure& failure) {
    if (is_gone(node, failure.error)) return {};
    if (node->config().role == Role::client) {
        failure = {Errc::invalid_argument, "a client node keeps no copy of the log: ask a member"};
        return {};
    }
    if (const auto bad = unsound_prefix(prefix); !bad.empty()) {
        failure = {Errc::invalid_argument, std::string{bad}};
        return {};
    }
    auto outcome = ask(node->gate(), listing_of_all_names(true));
    failure = {outcome.error, std::move(outcome.reason)};
    if (failure.error) return {};
    auto told = node->activity(std::string{prefix});
    if (!told) failure.error = Errc::node_stopped;
    return std::move(told).value_or(Activity{});
}

}  // namespace

}  // namespace detail

Activity Node::activity(std::string_view prefix, std::error_code& ec) {
    detail::ObserveFailure failure;
    auto told = detail::activity(runtime_, prefix, failure);
    ec = failure.error;
    return told;
}

Activity Node::activity(std::string_view prefix) {
    detail::ObserveFailure failure;
    auto told = detail::activity(runtime_, prefix, failure);
    detail::throw_if(failure.error, prefix, failure.reason);
    return told;
}

}  // namespace mortise
