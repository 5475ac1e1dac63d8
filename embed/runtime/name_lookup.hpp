// Looks up the addresses of the name of the peers (Config::peers_from), on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "core/base/instant.hpp"
#include "embed/host/log_sink.hpp"
#include "transport/sockets/address.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

class NameLookup {
public:
    // "10.0.0.1:7401", in ascending order and each once; none if the name has none now.
    using Found = std::function<void(std::vector<std::string> addresses)>;

    // Both references outlive it; it is used on the thread that runs the io_context.
    NameLookup(asio::io_context& io, const Config& config, NodeLog& log);
    NameLookup(const NameLookup&) = delete;
    NameLookup& operator=(const NameLookup&) = delete;

    // "NAME:PORT"
    [[nodiscard]] std::string name() const { return at_.host + ":" + at_.port; }
    // `found` is called later. Does nothing while a look-up is under way, which may take as long as
    // the name servers do.
    void begin(Found found);
    // Nothing is found any more.
    void stop() { alive_.reset(); }

private:
    void finished(const Found& found, std::vector<std::string> addresses, const std::string& why);

    asio::io_context& io_;
    NodeLog& log_;
    transport::HostPort at_;
    bool loopback_only_ = false;  // without TLS all members are on this machine
    bool is_under_way_ = false;
    std::string problem_;  // that was logged last
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace mortise::detail
