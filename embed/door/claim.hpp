// What a session asks for, and then holds. One connection waits for it, or several: a client that
// repeats a request with its key asks for the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include "embed/door/asked.hpp"
#include "embed/door/grant.hpp"
#include "embed/http/parked.hpp"
#include <mortise/lock_error.hpp>
#include <mortise/node.hpp>

namespace mortise::door {

class Session;

// A client sends the same key with several requests that are one.
struct RequestKey {
    std::string text{};     // empty: there is none
    std::size_t asked = 0;  // the hash of what it came with
};

// The outcome of an acquire.
struct Decided {
    std::error_code error{};
    ErrorDetail detail{};
    std::shared_ptr<Grant> grant{};  // none without an error: busy
};

// Thread-safe.
class Claim : public std::enable_shared_from_this<Claim> {
public:
    Claim(std::shared_ptr<http::Waker> waker, std::shared_ptr<Session> session, RequestKey key);

    // The id of the hold in its session.
    [[nodiscard]] const std::string& id() const { return id_; }
    [[nodiscard]] const RequestKey& key() const { return key_; }

    // Begins, once, after the session has it. `place` is kept until it is decided.
    void begin(Node& node, Wish wish, std::shared_ptr<void> place);
    // The connection with that number is woken when something happens. False if it is given back.
    [[nodiscard]] bool join(std::uint64_t connection);
    // When all have left, and none of their clients may know of a grant, it is cancelled or given
    // back. Who joins before it is cancelled makes it begin anew.
    void leave(std::uint64_t connection, bool may_know) noexcept;
    // Null while the claim waits. Afterwards the result does not change.
    [[nodiscard]] const Decided* decided() const;
    void wake() noexcept;

private:
    class Then;
    struct Begun {
        Node& node;
        const Wish wish;
        const std::shared_ptr<void> place;
    };

    void start();
    void decide(std::error_code error, Hold hold) noexcept;
    [[nodiscard]] bool begins_anew() noexcept;
    [[nodiscard]] bool is_one_attempt() const {
        return begun_ && begun_->wish.order.attempt == detail::Attempt::once;
    }
    [[nodiscard]] bool leads() const { return begun_ && begun_->wish.published; }
    void cancel() noexcept;
    void give_back() noexcept;
    [[nodiscard]] bool is_wanted() const { return is_known_ || !connections_.empty(); }

    const std::shared_ptr<http::Waker> waker_;
    const std::shared_ptr<Session> session_;
    const RequestKey key_;
    const std::string id_;
    std::optional<std::stop_callback<std::function<void()>>> ended_;
    std::optional<Begun> begun_;  // until it is decided
    ErrorDetail detail_;          // written by the node before that

    mutable std::mutex mutex_;
    std::stop_source cancel_;
    std::vector<std::uint64_t> connections_;
    bool is_known_ = false;  // a client may go by what it was told
    std::optional<Decided> decided_;
};

}  // namespace mortise::door
