#include "embed/door/claim.hpp"

#include <new>
#include <utility>

#include "embed/door/sessions.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>

namespace mortise::door {

// Called by the node at the end of the acquire.
class Claim::Then final : public detail::Finish {
public:
    explicit Then(std::shared_ptr<Claim> claim) : claim_{std::move(claim)} {}
    void operator()(std::error_code error, Hold hold) override {
        claim_->decide(error, std::move(hold));
    }

private:
    const std::shared_ptr<Claim> claim_;
};

Claim::Claim(std::shared_ptr<http::Waker> waker, std::shared_ptr<Session> session, RequestKey key)
    : waker_{std::move(waker)},
      session_{std::move(session)},
      key_{std::move(key)},
      id_{session_->new_id()} {}

void Claim::begin(Node& node, Wish wish, std::shared_ptr<void> place) {
    auto& options = wish.order.options;
    wish.order.detail = &detail_;
    if (!wish.order.permits) options.locker = session_->facts().locker;
    if (options.label.empty()) options.label = session_->facts().label;
    if (wish.published && wish.order.attempt == detail::Attempt::once)
        options.wait_max = Duration::zero();
    try {
        begun_.emplace(Begun{node, std::move(wish), std::move(place)});
        ended_.emplace(session_->ending(), [this] {
            cancel();
            wake();
        });
        start();
    } catch (const std::bad_alloc&) {  // nothing was begun; others may have joined
        decide(Errc::resource_exhausted, {});
    }
}

// Throws std::bad_alloc, and then has done nothing.
void Claim::start() {
    auto wish = begun_->wish;
    {
        const std::lock_guard lock{mutex_};
        wish.order.options.cancel = cancel_.get_token();
    }
    const auto& runtime = detail::runtime_of(begun_->node);
    auto then = std::make_unique<Then>(shared_from_this());
    if (wish.published)
        detail::start_campaign(runtime, std::move(wish.order), *std::move(wish.published),
                               std::move(then));
    else
        detail::start_acquire(runtime, std::move(wish.order), std::move(then));
}

// On a callback thread of the node.
void Claim::decide(std::error_code error, Hold hold) noexcept {
    Decided now{error, {}, {}};
    try {
        if (error == Errc::cancelled && begins_anew()) return start();
        if (error == Errc::timed_out && is_one_attempt()) now.error = {};  // busy
        if (!error && hold) now.grant = std::make_shared<Grant>(std::move(hold), leads());
    } catch (const std::bad_alloc&) {
        now.error = Errc::resource_exhausted;
    }
    const bool lives = session_->settle(id_, now.grant);
    if (!lives && (now.grant || now.error == Errc::cancelled)) now = {session_->failure(), {}, {}};
    begun_.reset();
    now.detail = std::move(detail_);
    bool is_left = false;
    {
        const std::lock_guard lock{mutex_};
        decided_ = std::move(now);
        is_left = !is_wanted();
    }
    if (is_left) give_back();
    wake();
}

// It was cancelled because all had left, and the client has come back. Its locker would not wait
// for the name a second time meanwhile.
bool Claim::begins_anew() noexcept {
    {
        const std::lock_guard lock{mutex_};
        if (connections_.empty()) return false;
        cancel_ = std::stop_source{};
    }
    return !session_->failure();  // or else that has cancelled it, if only the former one
}

bool Claim::join(std::uint64_t connection) {
    const std::lock_guard lock{mutex_};
    if (decided_ && !is_wanted()) return false;
    connections_.push_back(connection);
    return true;
}

void Claim::leave(std::uint64_t connection, bool may_know) noexcept {
    bool is_decided = false;
    {
        const std::lock_guard lock{mutex_};
        std::erase(connections_, connection);
        is_known_ = is_known_ || may_know;
        if (is_wanted()) return;
        is_decided = decided_.has_value();
    }
    if (is_decided)
        give_back();
    else
        cancel();
}

// Its callbacks are called without the mutex.
void Claim::cancel() noexcept {
    std::stop_source source{std::nostopstate};
    {
        const std::lock_guard lock{mutex_};
        source = cancel_;
    }
    source.request_stop();
}

const Decided* Claim::decided() const {
    const std::lock_guard lock{mutex_};
    return decided_ ? &*decided_ : nullptr;
}

void Claim::wake() noexcept {
    const std::lock_guard lock{mutex_};
    for (const auto each : connections_)
        waker_->wake(each);
}

void Claim::give_back() noexcept {
    if (const auto grant = session_->take(id_)) grant->unlock();
}

}  // namespace mortise::door
