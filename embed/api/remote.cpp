#include <utility>
#include <variant>

#include "embed/api/argument_errors.hpp"
#include "embed/api/remote_observer.hpp"
#include "embed/config/host_port.hpp"
#include "embed/host/descriptor_watch.hpp"
#include "embed/host/stay_loaded.hpp"
#include "embed/host/tls_watch.hpp"
#include "embed/runtime/membership_change.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/values/one_line.hpp"
#include "storage/base/descriptors.hpp"
#include "transport/clients/blocking_member_client.hpp"
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
    using Credentials = std::shared_ptr<const transport::TlsCredentials>;

    Impl(std::vector<std::string> addresses, Duration timeout, Credentials credentials)
        : addresses_{std::move(addresses)},
          patience_{timeout.to_nanoseconds()},
          credentials_{std::move(credentials)} {
        detail::stay_loaded();
        storage::occupy_standard_descriptors();
        if (addresses_.empty())
            throw std::system_error{Errc::invalid_argument, "no address of a member is given"};
        for (const auto& address : addresses_)
            if (!detail::parse_host_port(address))
                throw std::system_error{Errc::invalid_argument, detail::not_an_address(address)};
    }

    std::vector<MemberReport> status() {
        std::vector<MemberReport> reports;
        for (const auto& address : addresses_)
            reports.push_back(report_of(address));
        return reports;
    }

    // Asks the members until one can answer.
    std::vector<LockInfo> list(const transport::ListRequest& request) {
        Failures failures;
        for (const auto& address : addresses_) {
            auto locks = list_of(address, request, failures);
            if (locks) return *std::move(locks);
        }
        throw_failures(std::move(failures), request.is_exact ? request.prefix : std::string{});
    }

    std::vector<SessionInfo> sessions(bool is_local) {
        Failures failures;
        for (const auto& address : addresses_) {
            auto sessions = sessions_of(address, is_local, failures);
            if (sessions) return *std::move(sessions);
        }
        throw_failures(std::move(failures), {});
    }

    [[nodiscard]] detail::RemoteObserver observer() const {
        return {addresses_, patience_, credentials_, memory_};
    }

    void change(const core::MembershipGoal& goal) {
        detail::throw_unless_changed(detail::check_goal(goal), goal.member.raw());
        const auto outcome = ask_once([&](auto& client) { return client.change(goal); });
        detail::throw_unless_changed(outcome, goal.member.raw());
    }

    void break_lock(const core::BreakLock& request) {
        auto outcome = ask_once([&](auto& client) { return client.break_lock(request); });
        if (!outcome.error) return;
        throw LockError{outcome.error, {request.name, {}, {}, std::move(outcome.reason)}};
    }

private:
    [[nodiscard]] transport::BlockingMemberClient caller() const {
        return transport::BlockingMemberClient{
            patience_, {}, credentials_, detail::watch_loop, memory_};
    }
    // The last failure of each kind.
    struct Failures {
        // a member answered that it cannot answer the request
        std::optional<std::error_code> answer;
        std::string why;                     // its reason; empty if the code says everything
        std::optional<core::Error> contact;  // with the names of all members that failed so
    };

    static void add_contact(std::optional<core::Error>& contact, core::Error error,
                            const std::string& address) {
        if (error.what.find(address) == std::string::npos) error.what = address + ": " + error.what;
        if (contact) error.what = contact->what + "; " + error.what;
        contact = std::move(error);
    }

    // Asks the first member that can be reached. After that no other member is asked, since its
    // effect is unknown.
    template <class Ask>
    detail::ChangeOutcome ask_once(Ask ask) const {
        std::optional<core::Error> contact;
        for (const auto& address : addresses_) {
            auto client = caller();
            if (auto hello = client.connect(address); !hello) {
                add_contact(contact, std::move(hello).error(), address);
                continue;
            }
            const auto answer = ask(client);
            return detail::outcome_of(answer ? *answer : core::CallError::outcome_unknown);
        }
        if (!contact) throw LockError{Errc::no_quorum};
        throw detail::in_one_line(*contact);
    }

    MemberReport report_of(const std::string& address) const {
        MemberReport report;
        report.address = address;
        auto client = caller();
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

    static std::nullopt_t failed(core::Error error, const std::string& address,
                                 Failures& failures) {
        add_contact(failures.contact, std::move(error), address);
        return std::nullopt;
    }
    // The reply in an answer; empty if it has none, which is noted.
    template <class Reply, class Answer>
    static std::optional<Reply> reply_in(core::Result<Answer> answer, bool is_local,
                                         const std::string& address, Failures& failures) {
        if (!answer && answer.error().code == std::errc::timed_out && !is_local) {
            failures.answer = Errc::no_quorum;  // it runs, and waits for other members
            return std::nullopt;
        }
        if (!answer) return failed(std::move(answer).error(), address, failures);
        if (const auto* error = std::get_if<core::CallError>(&*answer)) {
            failures.answer = detail::errc_of(*error);
            return std::nullopt;
        }
        if (auto* denied = std::get_if<core::Denied>(&*answer)) {
            failures.answer = Errc::permission_denied;
            failures.why = std::move(denied->why);
            return std::nullopt;
        }
        return std::get<Reply>(std::move(*answer));
    }
    // Empty if this member cannot answer the request.
    std::optional<std::vector<LockInfo>> list_of(const std::string& address,
                                                 transport::ListRequest request,
                                                 Failures& failures) const {
        auto client = caller();
        if (auto hello = client.connect(address); !hello)
            return failed(std::move(hello).error(), address, failures);
        const auto wanted = request.limit;
        std::vector<LockInfo> locks;
        while (true) {
            request.limit = wanted - locks.size();
            const auto page = reply_in<transport::ListReply>(client.list(request), request.local,
                                                             address, failures);
            if (!page) return std::nullopt;
            for (const auto& view : page->locks)
                locks.push_back(from_core(view));
            if (!page->more || page->locks.empty() || locks.size() >= wanted) return locks;
            request.after = locks.back().name;
        }
    }
    std::optional<std::vector<SessionInfo>> sessions_of(const std::string& address, bool is_local,
                                                        Failures& failures) const {
        auto client = caller();
        if (auto hello = client.connect(address); !hello)
            return failed(std::move(hello).error(), address, failures);
        std::vector<SessionInfo> sessions;
        transport::SessionsRequest request{{}, transport::list_sessions_max, is_local};
        while (true) {
            const auto page = reply_in<transport::SessionsReply>(client.sessions(request), is_local,
                                                                 address, failures);
            if (!page) return std::nullopt;
            for (const auto& view : page->sessions)
                sessions.push_back(detail::session_of(view));
            if (!page->more) return sessions;
            request.after = page->sessions.back().id;
        }
    }
    [[noreturn]] static void throw_failures(Failures failures, std::string name) {
        if (!failures.answer && failures.contact) throw detail::in_one_line(*failures.contact);
        throw LockError{failures.answer.value_or(Errc::no_quorum),
                        {std::move(name), {}, {}, std::move(failures.why)}};
    }

    std::vector<std::string> addresses_;
    core::Nanoseconds patience_;
    Credentials credentials_;
    std::shared_ptr<transport::EndpointMemory> memory_ =
        std::make_shared<transport::EndpointMemory>();
};

namespace {

std::shared_ptr<const transport::TlsCredentials> credentials_of(const TlsConfig& tls) {
    auto loaded = transport::TlsCredentials::load(detail::tls_files(tls));
    if (!loaded) throw CertificateError{loaded.error().code, detail::tls_problem(loaded.error())};
    return std::move(*loaded);
}

}  // namespace

Remote::Remote(std::vector<std::string> addresses, Duration timeout)
    : impl_{std::make_unique<Impl>(std::move(addresses), timeout, nullptr)} {}
Remote::Remote(std::vector<std::string> addresses, Duration timeout, const TlsConfig& tls)
    : impl_{std::make_unique<Impl>(std::move(addresses), timeout, credentials_of(tls))} {}
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

}  // namespace mortise
