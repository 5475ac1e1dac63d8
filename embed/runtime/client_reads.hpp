// Reads of locks that a client node asks of its member (S46). They belong to no session, so they
// are asked again of the next member, until their time is over.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/agent/call.hpp"
#include "transport/clients/member_client.hpp"

namespace mortise::detail {

// Runs on the core thread.
class ClientReads {
public:
    // The member answers a request later, never from within the call.
    using Ask = std::function<void(const transport::ListRequest& request,
                                   transport::MemberClient::Done<transport::ListAnswer> done)>;
    // Called when the member answers, and by on_timer().
    struct Events {
        std::function<void(core::CallAnswer)> answered;
        // size() or deadline() may have changed; whether the member has said something.
        std::function<void(bool heard)> changed;
    };
    explicit ClientReads(Events events) : events_{std::move(events)} {}

    void add(core::InspectCall call, core::Instant gives_up);
    // They are asked of this member from now on; empty: of none.
    void use(Ask member);
    // Answers those whose time is over, and asks again what the member had no capacity for.
    void on_timer(core::Instant now);
    // On the steady clock.
    [[nodiscard]] core::Instant deadline() const;
    // How many have no answer.
    [[nodiscard]] std::size_t size() const { return reads_.size(); }
    // None is answered any more.
    void clear() { reads_.clear(); }

private:
    struct Read {
        core::InspectCall call;
        core::Instant gives_up;
        std::vector<core::LockView> found{};  // of the pages so far
    };

    void ask_next();
    void ask(const Read& read);
    void take(core::CallTag tag, core::Result<transport::ListAnswer> answer);
    void take_page(Read& read, transport::ListReply page);
    void end(core::CallTag tag, core::CallAnswer answer);

    Events events_;
    std::map<core::CallTag, Read> reads_;
    std::set<core::CallTag> asked_;  // of these, the ones without an answer; few at a time
    core::Instant ask_again_at_ = core::Instant::never();  // the member has no capacity until then
    Ask member_;
    // Answers to what was asked before do not count.
    std::shared_ptr<bool> asking_ = std::make_shared<bool>(true);
};

}  // namespace mortise::detail
