#include "transport/clients/member_server.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/client/client_codec.hpp"
#include "core/locks/limits.hpp"
#include "transport/clients/client_node_connection.hpp"
#include "transport/clients/client_rights.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace mortise::transport {
namespace {

kj::Exception useless() {
    return {kj::Exception::Type::FAILED, "", 0, kj::heapString("malformed")};
}

// Cap'n Proto has this setting in the call since 1.0, and in its context before.
void allow_cancellation(auto& call, auto& context) {
    if constexpr (requires { call.allowCancellation; })
        call.allowCancellation = true;
    else
        context.allowCancellation();
}

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class Member final : public wire::Member::Server {
public:
    Member(std::weak_ptr<Visit> visit, KjLoop& loop, ClientService& service, CountLimit lists)
        : visit_{std::move(visit)}, loop_{loop}, service_{service}, all_lists_{std::move(lists)} {}
    ~Member() noexcept {
        if (client_.is_set()) service_.gone(client_);
    }
    KJ_DISALLOW_COPY(Member);

    // The call of a caller that has gone is cancelled.
    DispatchCallResult dispatchCall(
        std::uint64_t interface, std::uint16_t method,
        capnp::CallContext<capnp::AnyPointer, capnp::AnyPointer> context) override {
        auto call = Server::dispatchCall(interface, method, context);
        allow_cancellation(call, context);
        return call;
    }

    kj::Promise<void> status(StatusContext context) override;
    kj::Promise<void> list(ListContext context) override;
    kj::Promise<void> inspect(InspectContext context) override;
    kj::Promise<void> change(ChangeContext context) override;
    kj::Promise<void> breakLock(BreakLockContext context) override;
    kj::Promise<void> say(SayContext context) override;
    kj::Promise<void> hear(HearContext context) override;
    kj::Promise<void> observe(ObserveContext context) override;
    kj::Promise<void> sessions(SessionsContext context) override;
    kj::Promise<void> evict(EvictContext context) override;
    kj::Promise<void> activity(ActivityContext context) override;

private:
    [[nodiscard]] bool is_open() const {
        const auto visit = visit_.lock();
        return visit && visit->is_open();
    }
    kj::Promise<void> malformed() {
        if (const auto visit = visit_.lock()) visit->malformed();
        return useless();
    }
    [[nodiscard]] bool is_congested() const {
        const auto visit = visit_.lock();
        return !visit || visit->is_congested();
    }
    // What a request takes of the limits until it is answered. Empty: the limits are reached.
    using Uses = std::vector<CountLimit::Use>;
    [[nodiscard]] Uses listing();
    [[nodiscard]] static Uses alone(CountLimit& limit);
    // `begin` calls the service, whose answer may come after this connection, or even the loop, is
    // gone. The uses last until then.
    template <class Answer>
    kj::Promise<void> answer(Uses uses, auto context, auto begin);
    kj::Promise<void> show(ListRequest request, auto context);
    // The operator's name by its certificate; empty without one.
    [[nodiscard]] std::string caller() const {
        const auto visit = visit_.lock();
        return visit && visit->identity() != nullptr ? visit->identity()->name() : std::string{};
    }
    // Empty if the caller is allowed to do that.
    [[nodiscard]] std::optional<core::Denied> denied(core::Right right, std::string_view name);

    std::weak_ptr<Visit> visit_;
    KjLoop& loop_;
    ClientService& service_;
    CountLimit all_lists_;
    CountLimit own_lists_{lists_per_client_max};
    // A client node says its first words.
    void admit();

    CountLimit changes_{1};
    std::shared_ptr<ClientNodeConnection> connection_;  // empty: it is no client node
    core::ClientId client_;                             // not set: it is none, or was not admitted
    PieceReader said_{core::client_message_bytes_max};
    CountLimit observations_{1};
    ClientObserver observer_;       // empty: there is none
    core::ObservedNames observed_;  // by that observer
};

kj::Promise<void> Member::status(StatusContext context) {
    if (!is_open()) return useless();
    write(service_.status(), context.getResults().initStatus());
    return kj::READY_NOW;
}

template <class Answer>
kj::Promise<void> reply(const Answer& answer, auto context) {
    write(answer, context.getResults().initAnswer());
    return kj::READY_NOW;
}

template <class Answer>
kj::Promise<void> Member::answer(Uses uses, auto context, auto begin) {
    if (uses.empty()) return reply<Answer>(core::CallError::resource_exhausted, context);
    auto promised = kj::newPromiseAndFulfiller<Answer>();
    auto fulfiller =
        std::make_shared<kj::Own<kj::PromiseFulfiller<Answer>>>(kj::mv(promised.fulfiller));
    begin([fulfiller, loop = loop_.handle(), uses = std::move(uses)](Answer given) {
        const auto alive = loop.lock();
        if (alive) (*alive)->run([&] { (*fulfiller)->fulfill(std::move(given)); });
    });
    return promised.promise.then(
        [context](Answer&& given) mutable { write(given, context.getResults().initAnswer()); });
}

Member::Uses Member::listing() {
    auto uses = alone(own_lists_);
    if (uses.empty()) return uses;
    auto all = all_lists_.take();
    if (!all || is_congested()) return {};
    uses.push_back(std::move(all));
    return uses;
}

Member::Uses Member::alone(CountLimit& limit) {
    auto use = limit.take();
    return use ? Uses{std::move(use)} : Uses{};
}

std::optional<core::Denied> Member::denied(core::Right right, std::string_view name) {
    const auto visit = visit_.lock();
    return visit ? client_denial({visit->identity(), visit->is_local()}, right, name)
                 : core::Denied{};
}

// A client may list the names with a prefix if it may observe the prefix.
kj::Promise<void> Member::show(ListRequest request, auto context) {
    if (auto why = denied(core::Right::observe, request.prefix))
        return reply<ListAnswer>(*std::move(why), context);
    return answer<ListAnswer>(listing(), context, [&](auto answered) {
        service_.list(std::move(request), std::move(answered));
    });
}

kj::Promise<void> Member::list(ListContext context) {
    if (!is_open()) return useless();
    auto request = read_guarded([&] { return context.getParams().getRequest(); });
    return request ? show(*std::move(request), context) : malformed();
}

kj::Promise<void> Member::inspect(InspectContext context) {
    if (!is_open()) return useless();
    const auto params = context.getParams();
    ListRequest request;
    request.prefix = bytes_of(params.getName());
    request.local = params.getLocal();
    request.is_exact = true;
    return core::is_valid_name(request.prefix) ? show(std::move(request), context) : malformed();
}

kj::Promise<void> Member::change(ChangeContext context) {
    if (!is_open()) return useless();
    auto goal = read_guarded([&] { return context.getParams().getGoal(); });
    if (!goal) return malformed();
    if (auto why = denied(core::Right::members, {}))
        return reply<ChangeAnswer>(*std::move(why), context);
    constexpr std::uint64_t patience_max = std::chrono::nanoseconds{std::chrono::hours{1}}.count();
    const core::Nanoseconds patience{std::min(context.getParams().getPatienceNs(), patience_max)};
    return answer<ChangeAnswer>(alone(changes_), context, [&](auto answered) {
        service_.change(*std::move(goal), patience, std::move(answered));
    });
}

kj::Promise<void> Member::breakLock(BreakLockContext context) {
    if (!is_open()) return useless();
    const auto params = context.getParams();
    core::BreakLock request{std::string{bytes_of(params.getName())},
                            core::FencingToken{params.getToken()},
                            std::string{bytes_of(params.getReason())}, params.getImmediate()};
    const bool sound = core::is_valid_name(request.name) && request.expected.is_set() &&
                       request.reason.size() <= core::reason_bytes_max;
    if (!sound) return malformed();
    if (auto why = denied(core::Right::break_lock, request.name))
        return reply<ChangeAnswer>(*std::move(why), context);
    request.asked_by = caller();
    return answer<ChangeAnswer>(alone(changes_), context, [&](auto answered) {
        service_.break_lock(std::move(request), std::move(answered));
    });
}

// It takes locks of every name.
kj::Promise<void> Member::evict(EvictContext context) {
    if (!is_open()) return useless();
    const auto params = context.getParams();
    core::EvictSession request{core::SessionId{params.getSession()},
                               std::string{bytes_of(params.getReason())}, params.getImmediate()};
    const bool sound = request.session.is_set() && request.reason.size() <= core::reason_bytes_max;
    if (!sound) return malformed();
    if (auto why = denied(core::Right::break_lock, {}))
        return reply<ChangeAnswer>(*std::move(why), context);
    request.asked_by = caller();
    return answer<ChangeAnswer>(alone(changes_), context, [&](auto answered) {
        service_.evict(std::move(request), std::move(answered));
    });
}

// --- client nodes

void Member::admit() {
    connection_ = std::make_shared<ClientNodeConnection>(visit_, loop_.handle());
    auto admitted = service_.admit(connection_);
    if (admitted) {
        client_ = *admitted;
        if (const auto visit = visit_.lock()) visit->speaks_as(client_);
    } else {
        core::ClientNotice notice;
        notice.refused = admitted.error().what;
        connection_->send(notice);
    }
}

kj::Promise<void> Member::say(SayContext context) {
    if (!is_open()) return useless();
    const auto piece = bytes_of(context.getParams().getPiece());
    if (piece.size() > said_bytes_max) return malformed();
    if (!connection_) admit();
    const auto whole = said_.take(piece);
    if (!whole) return malformed();
    // One step of the node for all of them: a step for each of the shortest would take too long.
    std::vector<core::ClientMessage> messages;
    for (const auto& bytes : *whole) {
        auto message = core::decode_client_message(bytes);
        if (!message) return malformed();
        messages.push_back(std::move(*message));
    }
    const auto visit = visit_.lock();
    if (visit && client_.is_set() && !messages.empty())
        service_.said(client_, std::move(messages), {visit->identity(), visit->address()});
    return connection_->may_say_more();
}

kj::Promise<void> Member::hear(HearContext context) {
    if (!is_open()) return useless();
    if (!connection_) admit();
    if (!connection_->may_wait()) return malformed();
    return connection_->hear().then(
        [context](std::string&& piece) mutable { context.getResults().setPiece(data_of(piece)); });
}

kj::Promise<void> Member::observe(ObserveContext context) {
    if (!is_open()) return useless();
    auto request = read_guarded([&] { return context.getParams().getRequest(); });
    if (!request) return malformed();
    if (request->continues && !observer_) return malformed();
    const auto& names = request->continues ? observed_ : request->names;
    if (auto why = denied(core::Right::observe, names.prefix))
        return reply<ObserveAnswer>(*std::move(why), context);
    auto uses = is_congested() ? Uses{} : alone(observations_);
    return answer<ObserveAnswer>(std::move(uses), context, [&](auto answered) {
        if (!request->continues) {
            observed_ = request->names;
            observer_ = service_.observe(request->names, request->from);
        }
        observer_(request->patience, std::move(answered));
    });
}

// They show the whole cluster, so they take the right to observe every name.
kj::Promise<void> Member::sessions(SessionsContext context) {
    if (!is_open()) return useless();
    auto request = read_guarded([&] { return context.getParams().getRequest(); });
    if (!request) return malformed();
    if (auto why = denied(core::Right::observe, {}))
        return reply<SessionsAnswer>(*std::move(why), context);
    return answer<SessionsAnswer>(listing(), context, [&](auto answered) {
        service_.sessions(*request, std::move(answered));
    });
}

// The same right, for the same reason.
kj::Promise<void> Member::activity(ActivityContext context) {
    if (!is_open()) return useless();
    const std::string prefix{bytes_of(context.getParams().getPrefix())};
    if (prefix.size() > core::name_bytes_max) return malformed();
    if (auto why = denied(core::Right::observe, {}))
        return reply<ActivityAnswer>(*std::move(why), context);
    return answer<ActivityAnswer>(listing(), context,
                                  [&](auto answered) { answered(service_.activity(prefix)); });
}

}  // namespace

wire::Member::Client make_member(std::weak_ptr<Visit> visit, KjLoop& loop, ClientService& service,
                                 CountLimit lists) {
    return kj::heap<Member>(std::move(visit), loop, service, std::move(lists));
}

}  // namespace mortise::transport
