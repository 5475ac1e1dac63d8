#include "embed/api/observe.hpp"

#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/runtime/observer_hub.hpp"
#include "embed/threads/blocking_call.hpp"
#include "embed/values/position.hpp"
#include <mortise/errc.hpp>
#include <mortise/node.hpp>

namespace mortise {

namespace detail {

namespace {

std::string_view unsound_part(std::string_view prefix, const EventSink& sink,
                              const ObserveOptions& options) {
    if (!sink) return no_sink;
    return options.only_this_name ? unsound_name(prefix) : unsound_prefix(prefix);
}

}  // namespace

// A listing of the same names decides whether this node may observe them.
Subscription observe(const std::shared_ptr<NodeRuntime>& node, std::string_view prefix,
                     EventSink sink, const ObserveOptions& options, ObserveFailure& failure) {
    if (is_gone(node, failure.error)) return {};
    if (const auto bad = unsound_part(prefix, sink, options); !bad.empty()) {
        failure = {Errc::invalid_argument, std::string{bad}};
        return {};
    }
    core::InspectCall listing;
    listing.name = prefix;
    listing.is_prefix = !options.only_this_name;
    listing.local = true;
    listing.parties_max = 1;
    auto outcome = ask(node->gate(), std::move(listing));
    failure = {outcome.error, std::move(outcome.reason)};
    if (failure.error) return {};
    const auto from = PositionParts::to_core(options.from.value_or(Position{}));
    auto subscription = node->observers().subscribe({std::string{prefix}, options.only_this_name},
                                                    from, std::move(sink));
    if (!subscription) failure.error = Errc::resource_exhausted;
    return std::move(subscription).value_or(Subscription{});
}

}  // namespace detail

Subscription Node::observe(std::string_view prefix, EventSink sink, const ObserveOptions& options,
                           std::error_code& ec) {
    detail::ObserveFailure failure;
    auto subscription = detail::observe(runtime_, prefix, std::move(sink), options, failure);
    ec = failure.error;
    return subscription;
}

Subscription Node::observe(std::string_view prefix, EventSink sink, std::error_code& ec) {
    return observe(prefix, std::move(sink), {}, ec);
}

Subscription Node::observe(std::string_view prefix, EventSink sink, const ObserveOptions& options) {
    detail::ObserveFailure failure;
    auto subscription = detail::observe(runtime_, prefix, std::move(sink), options, failure);
    detail::throw_if(failure.error, prefix, failure.reason);
    return subscription;
}

}  // namespace mortise
