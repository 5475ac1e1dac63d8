// Several names in one acquire.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mortise.h>

#include "embed/capi/acquired.hpp"
#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/options.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/lock_request.hpp>

using namespace mortise::capi;

namespace mortise::capi {
namespace {

// What the functions below are given.
struct Several {
    const mortise_node* node;
    const mortise_lock_request* requests;
    std::size_t count;
    std::int64_t wait_max_ns;
    const mortise_acquire_options* options;
};

std::vector<LockRequest> requests_of(const Several& given) {
    require(given.requests != nullptr || given.count == 0, "requests is NULL");
    std::vector<LockRequest> requests;
    for (std::size_t i = 0; i < given.count; ++i) {
        const auto& one = given.requests[i];
        require(one.reserved == 0, "requests->reserved is not 0");
        requests.push_back({std::string{text(one.name, one.name_length, "requests->name is NULL")},
                            lock_mode(one.mode, "requests->mode is no mode")});
    }
    return requests;
}

Asked<detail::AcquireOrder> names_of(const Several& given, bool all) {
    const auto& asked = existing(given.node, "node is NULL").node;
    auto order =
        order_of({}, given.options, detail::Attempt::until, deadline_of(given.wait_max_ns));
    order.several = {requests_of(given), all};
    return {detail::runtime_of(asked), std::move(order)};
}

}  // namespace
}  // namespace mortise::capi

int mortise_node_acquire_all_for(mortise_node* node, const mortise_lock_request* requests,
                                 size_t count, int64_t wait_max_ns,
                                 const mortise_acquire_options* options, mortise_hold** hold,
                                 mortise_error** error) {
    return acquire(hold, error, [&] {
        return names_of({node, requests, count, wait_max_ns, options}, true);
    });
}

int mortise_node_acquire_any_for(mortise_node* node, const mortise_lock_request* requests,
                                 size_t count, int64_t wait_max_ns,
                                 const mortise_acquire_options* options, mortise_hold** hold,
                                 mortise_error** error) {
    return acquire(hold, error, [&] {
        return names_of({node, requests, count, wait_max_ns, options}, false);
    });
}

int mortise_node_acquire_all_async(mortise_node* node, const mortise_lock_request* requests,
                                   size_t count, int64_t wait_max_ns,
                                   const mortise_acquire_options* options,
                                   mortise_acquired_callback acquired, void* context,
                                   void (*destroy)(void* context), mortise_error** error) {
    return begin_async(Then<AcquireEnd>{acquired, context, destroy}, error,
                       mortise::detail::start_acquire, [&] {
                           return names_of({node, requests, count, wait_max_ns, options}, true);
                       });
}

int mortise_node_acquire_any_async(mortise_node* node, const mortise_lock_request* requests,
                                   size_t count, int64_t wait_max_ns,
                                   const mortise_acquire_options* options,
                                   mortise_acquired_callback acquired, void* context,
                                   void (*destroy)(void* context), mortise_error** error) {
    return begin_async(Then<AcquireEnd>{acquired, context, destroy}, error,
                       mortise::detail::start_acquire, [&] {
                           return names_of({node, requests, count, wait_max_ns, options}, false);
                       });
}
