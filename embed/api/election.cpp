#include <new>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/api/leader_view.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/api/observe.hpp"
#include "embed/threads/blocking_call.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/election.hpp>
#include <mortise/errc.hpp>

namespace mortise {

namespace detail {

namespace {

std::string_view unsound_published(std::string_view value) {
    const bool is_short = value.size() <= Election::value_bytes_max;
    return is_short ? "" : "the value is longer than Election::value_bytes_max";
}

std::error_code publish_under(const Hold& hold, std::string_view value) {
    if (!unsound_published(value).empty()) return Errc::invalid_argument;
    std::error_code ec;
    hold.set_value(published(hold.token(), value), ec);
    return ec;
}

// The value of a lost leader was replaced as a whole, so nothing of it is half changed.
std::error_code publish_first(const Hold& hold, std::string_view value) {
    const auto ec = publish_under(hold, value);
    const auto how = hold.previous().how;
    const bool was_lost = how == Predecessor::expired || how == Predecessor::broken;
    std::error_code ignored;
    if (!ec && was_lost) hold.consistent(ignored);
    return ec;
}

// A value that is too long is refused at once, and not when it leads.
AcquireOrder campaign_order(const std::string& name, const AcquireOptions& options,
                            std::string_view value) {
    AcquireOrder order{name, options, Attempt::wait, {}};
    order.options.mode = LockMode::exclusive;
    order.options.caching = Caching::off;  // a name with a value is not cached
    order.unsound = unsound_published(value);
    return order;
}

// Publishes the value before the program has the hold. It runs on a callback thread, where waiting
// for an answer delays nobody else.
class CampaignFinish final : public Finish {
public:
    CampaignFinish(std::string value, std::unique_ptr<Finish> finish)
        : value_{std::move(value)}, finish_{std::move(finish)} {}

    void operator()(std::error_code ec, Hold hold) override {
        try {
            if (!ec) ec = publish_first(hold, value_);
        } catch (const std::bad_alloc&) {  // the program waits for an end
            ec = Errc::resource_exhausted;
        }
        (*finish_)(ec, ec ? Hold{} : std::move(hold));
    }

private:
    const std::string value_;
    const std::unique_ptr<Finish> finish_;
};

}  // namespace

const std::shared_ptr<NodeRuntime>& runtime_of(const Election& election) {
    return election.runtime_;
}

std::function<void()> start_campaign(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order,
                                     std::string value, std::unique_ptr<Finish> finish) {
    auto campaign = campaign_order(order.name, order.options, value);
    campaign.detail = order.detail;
    return start_acquire(node, std::move(campaign),
                         std::make_unique<CampaignFinish>(std::move(value), std::move(finish)));
}

}  // namespace detail

using detail::is_gone;

Election::Election(const Node& node, std::string_view name)
    : runtime_{detail::runtime_of(node)}, name_{name} {}

Election::Election(const Election&) = default;
Election::Election(Election&&) noexcept = default;
Election& Election::operator=(const Election&) = default;
Election::~Election() = default;

// A string that is assigned to itself loses its text.
Election& Election::operator=(Election&& other) noexcept {
    if (this != &other) {
        runtime_ = std::move(other.runtime_);
        name_ = std::move(other.name_);
    }
    return *this;
}

Hold Election::campaign(std::string_view value, const AcquireOptions& options,
                        std::error_code& ec) {
    if (is_gone(runtime_, ec)) return {};
    auto hold = detail::acquire(runtime_, detail::campaign_order(name_, options, value), ec);
    if (!ec) ec = detail::publish_first(hold, value);
    return ec ? Hold{} : std::move(hold);
}

Hold Election::campaign(std::string_view value, std::error_code& ec) {
    return campaign(value, {}, ec);
}

Hold Election::campaign(std::string_view value, const AcquireOptions& options) {
    auto hold = detail::acquire_or_throw(runtime_, detail::campaign_order(name_, options, value));
    detail::throw_if(detail::publish_first(hold, value), name_);
    return hold;
}

void Election::publish(const Hold& hold, std::string_view value, std::error_code& ec) {
    ec = hold.name() == name_ ? detail::publish_under(hold, value) : Errc::not_held;
}

void Election::publish(const Hold& hold, std::string_view value) {
    std::error_code ec;
    publish(hold, value, ec);
    const bool is_unsound = ec == Errc::invalid_argument;
    detail::throw_if(ec, name_, is_unsound ? detail::unsound_published(value) : "");
}

void Election::resign(Hold& hold, std::error_code& ec) {
    ec = hold.name() == name_ ? std::error_code{} : Errc::not_held;
    if (ec) return;
    std::error_code ignored;  // without its leader the value means nothing
    hold.set_value({}, ignored);
    ec = hold.release();
}

void Election::resign(Hold& hold) {
    std::error_code ec;
    resign(hold, ec);
    detail::throw_if(ec, name_);
}

namespace {

std::optional<Leader> look(const std::shared_ptr<detail::NodeRuntime>& runtime,
                           const std::string& name, detail::ObserveFailure& failure) {
    if (is_gone(runtime, failure.error)) return {};
    if (const auto bad = detail::unsound_name(name); !bad.empty()) {
        failure = {Errc::invalid_argument, std::string{bad}};
        return {};
    }
    core::InspectCall call;
    call.name = name;
    call.parties_max = 1;
    auto outcome = detail::ask(runtime->gate(), std::move(call));
    failure = {outcome.error, std::move(outcome.reason)};
    if (failure.error || outcome.locks.empty()) return {};
    const auto& info = outcome.locks.front();
    if (info.holders.empty() || !info.value) return {};
    return detail::leader_of(info.holders.front(), info.value->bytes);
}

Subscription watch(const std::shared_ptr<detail::NodeRuntime>& runtime, const std::string& name,
                   LeaderSink sink, detail::ObserveFailure& failure) {
    if (!sink) {
        failure = {Errc::invalid_argument, std::string{detail::no_sink}};
        return {};
    }
    auto tell = [sink = std::move(sink),
                 view = std::make_shared<detail::LeaderView>()](const Event& event) {
        if (const auto leader = view->take(event)) sink(*leader);
    };
    ObserveOptions options;
    options.only_this_name = true;
    return detail::observe(runtime, name, std::move(tell), options, failure);
}

}  // namespace

std::optional<Leader> Election::leader(std::error_code& ec) {
    detail::ObserveFailure failure;
    auto leader = look(runtime_, name_, failure);
    ec = failure.error;
    return leader;
}

std::optional<Leader> Election::leader() {
    detail::ObserveFailure failure;
    auto leader = look(runtime_, name_, failure);
    detail::throw_if(failure.error, name_, failure.reason);
    return leader;
}

Subscription Election::observe(LeaderSink sink, std::error_code& ec) {
    detail::ObserveFailure failure;
    auto subscription = watch(runtime_, name_, std::move(sink), failure);
    ec = failure.error;
    return subscription;
}

Subscription Election::observe(LeaderSink sink) {
    detail::ObserveFailure failure;
    auto subscription = watch(runtime_, name_, std::move(sink), failure);
    detail::throw_if(failure.error, name_, failure.reason);
    return subscription;
}

}  // namespace mortise
