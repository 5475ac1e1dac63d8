// Finds the peers of a node by a name: looks it up again and again, and asks at each address who is
// there. It runs on the core thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "embed/host/log_sink.hpp"
#include "embed/runtime/found_peers.hpp"
#include "embed/runtime/name_lookup.hpp"
#include "transport/clients/member_client.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

class PeerFinder {
public:
    // All of it outlives the finder.
    struct Parts {
        asio::io_context& io;
        const Config& config;
        NodeLog& log;
        FoundPeers::IsOpen is_open;
        // The newest change of the members that this node knows.
        std::function<core::LogId()> members_at;
        // The cluster of this node; not set: none yet.
        std::function<core::ClusterId()> cluster;
        // Whether nothing is missed: there is a leader.
        std::function<bool()> is_settled;
        // After each look, and when somebody was found.
        std::function<void()> looked;
    };

    explicit PeerFinder(Parts parts);
    PeerFinder(const PeerFinder&) = delete;
    PeerFinder& operator=(const PeerFinder&) = delete;

    // Credentials are null without TLS.
    void begin(std::shared_ptr<const transport::TlsCredentials> credentials);
    void set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials) {
        credentials_ = std::move(credentials);
    }
    void stop();

    [[nodiscard]] const FoundPeers& found() const { return found_; }
    [[nodiscard]] std::string name() const { return lookup_.name(); }

private:
    void look();
    void ask();
    void ask_at(const std::string& address);
    void answered(const std::string& address, core::LogId asked_at,
                  const core::Result<core::Hello>& hello);
    [[nodiscard]] bool is_of_this_cluster(const core::Hello& hello) const;
    void tell_ambiguity();
    void set_timer();

    Parts parts_;
    std::shared_ptr<const transport::TlsCredentials> credentials_;
    NameLookup lookup_;
    FoundPeers found_;
    std::map<std::string, std::unique_ptr<transport::MemberClient>> asking_;  // by address
    std::string ambiguity_;  // that was logged last
    asio::steady_timer timer_;
    bool is_stopped_ = false;
};

}  // namespace mortise::detail
