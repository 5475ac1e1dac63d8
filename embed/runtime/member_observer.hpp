// One observer of a client node (Node::observe): asks a member for what comes next, as
// Remote::observe does, and another one when that one fails. The connection is its own, so that
// much to tell does not delay the renewals of the session (docs/decisions/0085). It runs on the
// core thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "embed/host/log_sink.hpp"
#include "embed/runtime/member_places.hpp"
#include "embed/runtime/observer_hub.hpp"
#include "embed/runtime/unready_members.hpp"
#include "embed/threads/notifier.hpp"
#include "transport/clients/member_client.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

class MemberObserver : public std::enable_shared_from_this<MemberObserver> {
public:
    // All of it outlives the observer. The functions say what the node knows now.
    struct Node {
        asio::io_context& io;
        const Config& config;
        const MemberPlaces& members;
        Notifier& notifier;
        NodeLog& log;
        core::Nanoseconds patience{};  // for a connection, and for an answer that is due
        std::function<core::ClusterId()> cluster;  // not set: any of this name
        std::function<std::shared_ptr<const transport::TlsCredentials>()> credentials;
    };
    // `first` is the place of the member that is asked first.
    MemberObserver(Node node, ObserverHub::Arrival arrival, std::size_t first);

    void begin() { dial(); }
    // Its queue may have room again. False: its subscription has ended.
    [[nodiscard]] bool go_on();
    void set_credentials(const std::shared_ptr<const transport::TlsCredentials>& credentials);
    // No more is told. Final.
    void close();

private:
    void dial();
    void connected(const core::Result<core::Hello>& hello);
    void ask(bool continues);
    void answered(core::Result<transport::ObserveAnswer> answer);
    void deliver();
    void begin_anew();
    void leave(const std::string& why);
    void set_timer(core::Nanoseconds time);
    void timer_fired();

    Node node_;
    std::weak_ptr<ObserverHub::Queue> queue_;  // expired: the subscription has ended
    core::ObservedNames names_;
    core::Position reached_;
    std::size_t at_ = 0;                               // the place of the member
    std::string address_;                              // where it was dialled
    std::unique_ptr<transport::MemberClient> client_;  // null between two members
    std::vector<core::Observed> told_;                 // by the member, in part delivered
    std::size_t delivered_ = 0;                        // of those
    bool is_delivering_ = false;                       // there was no room for all of them
    bool leaves_ = false;                              // when all are delivered
    bool was_denied_ = false;                          // and it was said
    bool is_closed_ = false;
    std::size_t silent_ = 0;  // members in turn that told nothing
    UnreadyMembers unready_;
    asio::steady_timer timer_;
    core::Instant due_ = core::Instant::never();
};

}  // namespace mortise::detail
