// Locks for very many objects over a fixed number of names.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/detail/listed_text.hpp>
#include <mortise/duration.hpp>
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>
#include <mortise/options.hpp>

namespace mortise {

class Node;

// Maps each key to one of `stripes` names, so that a table of a hundred million rows needs no more
// names than that: "orders/0", "orders/1", ... Two keys of one stripe exclude each other although
// they need not, so take many more stripes than there are holders at a time.
//
// All programs must map a key to the same name. So the number of stripes is stored as the value of
// `name` when the first call is made, and a StripedLock with another number gets kind_mismatch.
// The mapping is the same on every machine and in every version of Mortise.
//
// Do not remove `name` with Node::remove() while any program uses it, even if no stripe is held:
// the cluster would forget the number of stripes. Another program could then use another number,
// and two programs could hold the same key at once.
//
// The node must exist as long as this object is used, and must not be moved. Thread-safe. The calls
// are those of Node with the name of the key's stripe, and fail and block like them; the first one
// also asks the cluster for the number of stripes, and stores it if nobody has, for which it takes
// the lock `name`. Do not use that name as a lock. If somebody holds it, the first call waits no
// longer than it would for its key, and a try for a second at most. A thread that holds a key and
// wants a second one must not call acquire() again: both may be the same stripe, and then it waits
// for itself. Take all keys together with acquire_all().
class StripedLock {
public:
    // Throws LockError with invalid_argument unless the name has 1 to 500 bytes, and there are 1 to
    // 1,000,000 stripes. Does not ask the cluster.
    StripedLock(Node& node, std::string_view name, std::uint32_t stripes);

    // The name of the key's stripe. A key has any number of bytes of any kind.
    [[nodiscard]] std::string name_of(std::string_view key) const;
    [[nodiscard]] std::uint32_t stripes() const noexcept { return stripes_; }

    [[nodiscard]] Hold acquire(std::string_view key, const AcquireOptions& options = {});
    [[nodiscard]] Hold acquire(std::string_view key, std::error_code& ec);
    [[nodiscard]] Hold acquire(std::string_view key, const AcquireOptions& options,
                               std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view key,
                                                  const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view key, std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view key,
                                                  const AcquireOptions& options,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_for(std::string_view key, Duration wait,
                                                  const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> acquire_for(std::string_view key, Duration wait,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_for(std::string_view key, Duration wait,
                                                  const AcquireOptions& options,
                                                  std::error_code& ec);

    // All keys or none, without a deadlock whatever the order (Node::acquire_all), in options.mode.
    // Keys of one stripe share a hold. At most 64 stripes.
    using Keys = std::span<const std::string_view>;
    [[nodiscard]] HoldSet acquire_all(Keys keys, const AcquireOptions& options = {});
    [[nodiscard]] HoldSet acquire_all(Keys keys, std::error_code& ec);
    [[nodiscard]] HoldSet acquire_all(Keys keys, const AcquireOptions& options,
                                      std::error_code& ec);
    using KeyList = std::initializer_list<detail::ListedText>;
    [[nodiscard]] HoldSet acquire_all(KeyList keys, const AcquireOptions& options = {}) {
        return acquire_all(Keys{views(keys)}, options);
    }
    [[nodiscard]] HoldSet acquire_all(KeyList keys, std::error_code& ec) {
        return acquire_all(Keys{views(keys)}, ec);
    }
    [[nodiscard]] HoldSet acquire_all(KeyList keys, const AcquireOptions& options,
                                      std::error_code& ec) {
        return acquire_all(Keys{views(keys)}, options, ec);
    }

private:
    static std::vector<std::string_view> views(KeyList keys) {
        std::vector<std::string_view> views;
        views.reserve(keys.size());
        for (const auto& key : keys)
            views.push_back(key.view());
        return views;
    }
    [[nodiscard]] bool agree(Duration wait_max, const AcquireOptions& options, std::error_code& ec);
    [[nodiscard]] bool agree_in_time(Duration wait_max, const AcquireOptions& options,
                                     std::error_code& ec);
    [[nodiscard]] bool agree_in_time_or_throw(Duration wait_max, const AcquireOptions& options);
    void agree_or_throw(const AcquireOptions& options);
    [[noreturn]] void refuse(std::error_code ec) const;
    void decide(const AcquireOptions& wait, std::error_code& ec);
    void compare(const std::string& number, std::error_code& ec);

    Node& node_;
    const std::string name_;
    const std::uint32_t stripes_;
    std::atomic<bool> agreed_ = false;  // the cluster has the same number
};

}  // namespace mortise
