// The arguments of the calls for several names.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <mortise/detail/listed_text.hpp>
#include <mortise/enums.hpp>

namespace mortise {

struct LockRequest {
    std::string name;
    LockMode mode = LockMode::exclusive;

    friend bool operator==(const LockRequest&, const LockRequest&) = default;
};

// A list of requests. It is made from
//
//   node.acquire_all({"accounts/1", "accounts/2"});
//   node.acquire_all({{"accounts/1", mortise::LockMode::shared}, {"journal"}});
//   node.acquire_all(requests);  // a std::span or a std::vector of LockRequest
//
// In a coroutine, name it before co_await (see AcquireOptions).
class LockRequests {
public:
    LockRequests() = default;
    // NOLINTBEGIN(google-explicit-constructor,hicpp-explicit-conversions): that is what it is for
    LockRequests(std::initializer_list<LockRequest> requests) : requests_{requests} {}
    LockRequests(std::initializer_list<detail::ListedText> names) {
        for (const auto& name : names)
            requests_.push_back({std::string{name.view()}, LockMode::exclusive});
    }
    LockRequests(std::vector<LockRequest> requests) : requests_{std::move(requests)} {}
    template <class Requests>
    requires std::convertible_to<const Requests&, std::span<const LockRequest>> LockRequests(
        const Requests& requests) {
        const std::span<const LockRequest> all = requests;
        requests_.assign(all.begin(), all.end());
    }
    // NOLINTEND(google-explicit-constructor,hicpp-explicit-conversions)

    [[nodiscard]] const std::vector<LockRequest>& list() const { return requests_; }

private:
    std::vector<LockRequest> requests_;
};

}  // namespace mortise
