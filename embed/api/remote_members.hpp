// The members that a Remote may ask, and why none of them could answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/instant.hpp"
#include "core/base/result.hpp"
#include "embed/host/descriptor_watch.hpp"
#include "embed/runtime/membership_change.hpp"
#include "embed/runtime/translate.hpp"
#include "transport/clients/blocking_member_client.hpp"
#include <mortise/detail/told_once.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {

struct RemoteMembers {
    std::vector<std::string> addresses;
    core::Nanoseconds patience{};  // for one member
    std::shared_ptr<const transport::TlsCredentials> credentials;
    std::shared_ptr<transport::EndpointMemory> memory =
        std::make_shared<transport::EndpointMemory>();

    // To ask one of them.
    [[nodiscard]] transport::BlockingMemberClient caller() const {
        return transport::BlockingMemberClient{patience, {}, credentials, watch_loop, memory};
    }
};

// Says which member it was.
[[nodiscard]] inline core::Error at_member(const std::string& address, core::Error error) {
    error.what = told_in_one_line({{address, std::move(error.what)}});
    return error;
}

// Why none could answer, while one member after the other is asked.
class RemoteFailures {
public:
    void begin(const std::string& address) { address_ = address; }
    void add_contact(core::Error error) {
        contacts_.push_back({address_, std::move(error.what)});
        last_ = error.code;
    }
    // The reply in an answer; empty if it has none, which is noted.
    template <class Reply>
    std::optional<Reply> reply_in(core::Result<transport::ClientAnswer<Reply>> given,
                                  bool is_local) {
        if (!given && given.error().code == std::errc::timed_out && !is_local) {
            answer_ = ChangeOutcome{Errc::no_quorum, {}};  // it runs, and waits for other members
        } else if (!given) {
            add_contact(std::move(given).error());
        } else if (const auto* error = std::get_if<core::CallError>(&*given)) {
            answer_ = ChangeOutcome{errc_of(*error), {}};
        } else if (auto* denied = std::get_if<core::Denied>(&*given)) {
            answer_ = ChangeOutcome{Errc::permission_denied, std::move(denied->why)};
        } else {
            return std::get<Reply>(*std::move(given));
        }
        return std::nullopt;
    }

    // A member answered that it cannot answer the request.
    [[nodiscard]] const std::optional<ChangeOutcome>& answer() const { return answer_; }
    // With the names of all members that were not reached, or broke the connection, and the code of
    // the last one.
    [[nodiscard]] core::Error contact() const { return {last_, told_in_one_line(contacts_)}; }

private:
    std::string address_;  // of the member that is asked
    std::optional<ChangeOutcome> answer_;
    std::vector<MemberProblem> contacts_;
    std::error_code last_;
};

}  // namespace mortise::detail
