#include <utility>
#include <variant>

#include "embed/api/argument_errors.hpp"
#include "embed/api/remote_members.hpp"
#include "embed/api/remote_observer.hpp"
#include "embed/config/host_port.hpp"
#include "embed/host/stay_loaded.hpp"
#include "embed/host/tls_watch.hpp"
#include "embed/runtime/membership_change.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/runtime/translate_activity.hpp"
#include "embed/values/one_line.hpp"
#include "storage/base/descriptors.hpp"
#include "transport/wire/message_limits.hpp"
#include <mortise/certificates.hpp>
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/remote.hpp>

namespace mortise {

namespace {

using detail::from_core;

void refuse_if(std::string_view unsound, std::string_view name) {
    if (unsound.empty()) return;
    throw LockError{Errc::invalid_argument, {std::string{name}, {}, {}, std::string{unsound}}};
}

void take_configuration(const core::Hello& hello, MemberReport& report) {
    report.timing = {hello.timing.election_timeout, hello.timing.heartbeat,
                     hello.timing.session_ttl};
    for (const auto id : hello.voters)
        report.voters.push_back(id.raw());
}

}  // namespace

class Remote::Impl {
public:
    explicit Impl(detail::RemoteMembers members) : members_{std::move(members)} {
        detail::stay_loaded();
        storage::occupy_standard_descriptors();
        if (members_.addresses.empty())
            throw std::system_error{Errc::invalid_argument, "no address of a member is given"};
        for (const auto& address : members_.addresses)
            if (!detail::parse_host_port(address))
                throw std::system_error{Errc::invalid_argument, detail::not_an_address(address)};
    }

    std::vector<MemberReport> status() {
        std::vector<MemberReport> reports;
        for (const auto& address : members_.addresses)
            reports.push_back(report_of(address));
        return reports;
    }

    std::vector<LockInfo> list(const transport::ListRequest& request) {
        using Locks = std::vector<LockInfo>;
        const auto name = request.is_exact ? request.prefix : std::string{};
        return from_first<Locks>(name, [&](Caller& client, Failures& failures) {
            Locks locks;
            auto next = request;
            while (true) {
                next.limit = request.limit - locks.size();
                const auto page = failures.reply_in(client.list(next), request.local);
                if (!page) return std::optional<Locks>{};
                for (const auto& view : page->locks)
                    locks.push_back(from_core(view));
                const bool is_last = !page->more || page->locks.empty();
                if (is_last || locks.size() >= request.limit) return std::optional{locks};
                next.after = locks.back().name;
            }
        });
    }

    std::vector<SessionInfo> sessions(bool is_local) {
        using Sessions = std::vector<SessionInfo>;
        return from_first<Sessions>({}, [&](Caller& client, Failures& failures) {
            Sessions sessions;
            transport::SessionsRequest next{{}, transport::list_sessions_max, is_local};
            while (true) {
                const auto page = failures.reply_in(client.sessions(next), is_local);
                if (!page) return std::optional<Sessions>{};
                for (const auto& view : page->sessions)
                    sessions.push_back(detail::session_of(view));
                if (!page->more) return std::optional{sessions};
                next.after = page->sessions.back().id;
            }
        });
    }

    Activity activity(const std::string& prefix) {
        return from_first<Activity>({}, [&](Caller& client, Failures& failures) {
            const auto view = failures.reply_in(client.activity(prefix), true);
            return view ? std::optional{detail::activity_of(*view)} : std::nullopt;
        });
    }

    [[nodiscard]] detail::RemoteObserver observer() const {
        return detail::RemoteObserver{members_};
    }

    void change(const core::MembershipGoal& goal) {
        detail::throw_unless_changed(detail::check_goal(goal), goal.member.raw());
        const auto outcome = ask_once([&](Caller& client) { return client.change(goal); });
        detail::throw_unless_changed(outcome, goal.member.raw());
    }

    void break_lock(const core::BreakLock& request) {
        auto outcome = ask_once([&](Caller& client) { return client.break_lock(request); });
        if (!outcome.error) return;
        throw LockError{outcome.error, {request.name, {}, {}, std::move(outcome.reason)}};
    }

    void evict(const core::EvictSession& request) {
        auto outcome = ask_once([&](Caller& client) { return client.evict(request); });
        if (!outcome.error) return;
        const auto session = "session " + std::to_string(request.session.raw());
        throw LockError{outcome.error, {session, {}, {}, std::move(outcome.reason)}};
    }

private:
    using Caller = transport::BlockingMemberClient;
    using Failures = detail::RemoteFailures;
    using Outcome = detail::ChangeOutcome;

    // Asks the members until one can answer, which `ask` returns; empty if it cannot.
    template <class Answer>
    Answer from_first(std::string name, auto ask) const {
        Failures failures;
        for (const auto& address : members_.addresses) {
            auto client = members_.caller();
            failures.begin(address);
            if (auto hello = client.connect(address); !hello)
                failures.add_contact(std::move(hello).error());
            else if (auto answer = ask(client, failures))
                return *std::move(answer);
        }
        if (!failures.answer()) throw detail::in_one_line(failures.contact());
        auto why = *failures.answer();
        throw LockError{why.error, {std::move(name), {}, {}, std::move(why.reason)}};
    }

    // Asks the first member that can be reached. After that no other member is asked, since its
    // effect is unknown.
    Outcome ask_once(auto ask) const {
        return from_first<Outcome>({}, [&](Caller& client, Failures& /*failures*/) {
            const auto answer = ask(client);
            return std::optional{
                detail::outcome_of(answer ? *answer : core::CallError::outcome_unknown)};
        });
    }

    MemberReport report_of(const std::string& address) const {
        MemberReport report;
        report.address = address;
        auto client = members_.caller();
        auto status = core::Result<transport::MemberStatus>{core::Error{}};
        if (auto hello = client.connect(address); !hello) {
            status = std::move(hello).error();
        } else {
            take_configuration(*hello, report);
            status = client.status();
        }
        if (status) {
            report.status = detail::status_of(*status);
        } else {
            report.error = status.error().code;
            report.problem = status.error().what;
            if (report.problem.empty()) report.problem = report.error.message();
        }
        return report;
    }

    detail::RemoteMembers members_;
};

namespace {

std::shared_ptr<const transport::TlsCredentials> credentials_of(const TlsConfig& tls) {
    auto loaded = transport::TlsCredentials::load(detail::tls_files(tls));
    if (!loaded) throw CertificateError{loaded.error().code, detail::tls_problem(loaded.error())};
    return std::move(*loaded);
}

}  // namespace

Remote::Remote(std::vector<std::string> addresses, Duration timeout)
    : impl_{std::make_unique<Impl>(
          detail::RemoteMembers{std::move(addresses), timeout.to_nanoseconds(), nullptr})} {}
Remote::Remote(std::vector<std::string> addresses, Duration timeout, const TlsConfig& tls)
    : impl_{std::make_unique<Impl>(detail::RemoteMembers{
          std::move(addresses), timeout.to_nanoseconds(), credentials_of(tls)})} {}
Remote::~Remote() = default;
Remote::Remote(Remote&&) noexcept = default;
Remote& Remote::operator=(Remote&&) noexcept = default;

std::vector<MemberReport> Remote::status() {
    return impl_->status();
}

std::vector<LockInfo> Remote::list(std::string_view prefix, std::string_view after,
                                   std::size_t limit, ReadLevel level) {
    refuse_if(detail::unsound_prefix(prefix), prefix);
    refuse_if(detail::unsound_prefix(after), after);
    if (limit == 0) return {};
    transport::ListRequest request;
    request.prefix = prefix;
    request.after = after;
    request.limit = limit;
    request.local = level == ReadLevel::local;
    return impl_->list(request);
}

std::vector<SessionInfo> Remote::sessions(ReadLevel level) {
    return impl_->sessions(level == ReadLevel::local);
}

Activity Remote::activity(std::string_view prefix) {
    refuse_if(detail::unsound_prefix(prefix), prefix);
    return impl_->activity(std::string{prefix});
}

void Remote::observe(std::string_view prefix, const EventSink& sink, const ObserveOptions& options,
                     const std::stop_token& stop, const Moved& moved) {
    refuse_if(
        options.only_this_name ? detail::unsound_name(prefix) : detail::unsound_prefix(prefix),
        prefix);
    impl_->observer().run({std::string{prefix}, options.only_this_name},
                          options.from.value_or(Position{}), {sink, moved}, stop);
}

LockInfo Remote::inspect(std::string_view name, ReadLevel level) {
    refuse_if(detail::unsound_name(name), name);
    transport::ListRequest request;
    request.prefix = name;
    request.is_exact = true;
    request.local = level == ReadLevel::local;
    auto locks = impl_->list(request);
    if (!locks.empty()) return std::move(locks.front());
    LockInfo unknown;
    unknown.name = name;
    return unknown;
}

using Kind = core::MembershipGoal::Kind;

void Remote::add_member(NodeId id, std::string_view address) {
    impl_->change({Kind::learner, core::NodeId{id}, std::string{address}});
}

void Remote::promote_member(NodeId id) {
    impl_->change({Kind::voter, core::NodeId{id}, {}});
}

void Remote::remove_member(NodeId id) {
    impl_->change({Kind::gone, core::NodeId{id}, {}});
}

void Remote::move_member(NodeId id, std::string_view address) {
    impl_->change({Kind::address, core::NodeId{id}, std::string{address}});
}

void Remote::transfer_leadership(NodeId to) {
    impl_->change({Kind::leader, core::NodeId{to}, {}});
}

void Remote::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                        BreakMode mode) {
    refuse_if(detail::unsound_break(name, expected, reason, mode), name);
    impl_->break_lock({std::string{name},
                       core::FencingToken{static_cast<std::uint64_t>(expected.raw())},
                       std::string{reason}, mode == BreakMode::immediate});
}

void Remote::evict(SessionId session, std::string_view reason, BreakMode mode) {
    refuse_if(detail::unsound_eviction(session, reason, mode), {});
    impl_->evict({core::SessionId{session}, std::string{reason}, mode == BreakMode::immediate});
}

}  // namespace mortise
