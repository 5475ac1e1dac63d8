#include <algorithm>
#include <utility>
#include <variant>

#include "core/locks/limits.hpp"
#include "embed/host_port.hpp"
#include "embed/translate.hpp"
#include "transport/member_client.hpp"
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/remote.hpp>

namespace mortise {

namespace {

using detail::from_core;

void check_prefix(std::string_view prefix) {
    if (prefix.size() > core::name_bytes_max)
        throw LockError{Errc::invalid_argument, {std::string{prefix}, {}, {}}};
}

}  // namespace

class Remote::Impl {
public:
    Impl(std::vector<std::string> addresses, Duration timeout)
        : addresses_{std::move(addresses)},
          // One half to connect, the other for the answer.
          patience_{timeout.to_nanoseconds() / 2} {
        for (const auto& address : addresses_)
            if (!detail::parse_host_port(address))
                throw std::system_error{Errc::invalid_argument,
                                        "not an address like host:port: " + escaped(address)};
    }

    std::vector<MemberReport> status() {
        std::vector<MemberReport> reports;
        for (const auto& address : addresses_)
            reports.push_back(report_of(address));
        return reports;
    }

    // Of the first member that knows.
    std::vector<LockInfo> list(const transport::ListRequest& request) {
        std::error_code refusal = Errc::no_quorum;
        for (const auto& address : addresses_) {
            auto locks = list_of(address, request, refusal);
            if (locks) return *std::move(locks);
        }
        throw LockError{refusal, {request.is_exact ? request.prefix : std::string{}, {}, {}}};
    }

private:
    MemberReport report_of(const std::string& address) const {
        MemberReport report;
        report.address = address;
        transport::BlockingMemberClient client{patience_};
        auto status = core::Result<transport::MemberStatus>{core::Error{}};
        if (auto hello = client.connect(address); !hello)
            status = std::move(hello).error();
        else
            status = client.status();
        if (status) {
            report.status = detail::status_of(*status);
        } else {
            report.error = status.error().code;
            report.problem = status.error().what;
            if (report.problem.empty()) report.problem = report.error.message();
        }
        return report;
    }

    // Empty when this member cannot say.
    std::optional<std::vector<LockInfo>> list_of(const std::string& address,
                                                 transport::ListRequest request,
                                                 std::error_code& refusal) const {
        transport::BlockingMemberClient client{patience_};
        if (!client.connect(address)) return std::nullopt;
        const auto wanted = request.limit;
        std::vector<LockInfo> locks;
        while (true) {
            request.limit = wanted - locks.size();
            auto answer = client.list(request);
            if (!answer) return std::nullopt;
            if (const auto* error = std::get_if<core::CallError>(&*answer)) {
                refusal = detail::errc_of(*error);
                return std::nullopt;
            }
            const auto& page = std::get<transport::ListReply>(*answer);
            for (const auto& view : page.locks)
                locks.push_back(from_core(view));
            if (!page.more || page.locks.empty() || locks.size() >= wanted) return locks;
            request.after = locks.back().name;
        }
    }

    std::vector<std::string> addresses_;
    core::Nanoseconds patience_;
};

Remote::Remote(std::vector<std::string> addresses, Duration timeout)
    : impl_{std::make_unique<Impl>(std::move(addresses), timeout)} {}
Remote::~Remote() = default;
Remote::Remote(Remote&&) noexcept = default;
Remote& Remote::operator=(Remote&&) noexcept = default;

std::vector<MemberReport> Remote::status() {
    return impl_->status();
}

std::vector<LockInfo> Remote::list(std::string_view prefix, std::string_view after,
                                   std::size_t limit, ReadLevel level) {
    check_prefix(prefix);
    check_prefix(after);
    if (limit == 0) return {};
    transport::ListRequest request;
    request.prefix = prefix;
    request.after = after;
    request.limit = limit;
    request.local = level == ReadLevel::local;
    return impl_->list(request);
}

LockInfo Remote::inspect(std::string_view name, ReadLevel level) {
    if (!core::is_valid_name(name))
        throw LockError{Errc::invalid_argument, {std::string{name}, {}, {}}};
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

}  // namespace mortise
