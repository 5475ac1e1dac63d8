#include "embed/runtime/peer_finder.hpp"

#include <chrono>
#include <utility>

#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_of_search = 1s;
constexpr auto pause_when_settled = 5s;
constexpr core::Nanoseconds patience = 2s;  // for one address

}  // namespace

PeerFinder::PeerFinder(Parts parts)
    : parts_{std::move(parts)}, lookup_{parts_.io, parts_.config, parts_.log}, timer_{parts_.io} {}

void PeerFinder::begin(std::shared_ptr<const transport::TlsCredentials> credentials) {
    credentials_ = std::move(credentials);
    look();
}

void PeerFinder::stop() {
    is_stopped_ = true;
    timer_.cancel();
    lookup_.stop();
    asking_.clear();
}

// A name server that does not answer delays nothing else: what is known is asked meanwhile.
void PeerFinder::look() {
    lookup_.begin([this](const std::vector<std::string>& addresses) {
        found_.resolved(addresses);
        ask();
    });
    ask();
    set_timer();
    parts_.looked();
}

void PeerFinder::set_timer() {
    timer_.expires_after(parts_.is_settled() ? pause_when_settled : pause_of_search);
    timer_.async_wait([this](std::error_code cancelled) {
        if (!cancelled && !is_stopped_) look();
    });
}

void PeerFinder::ask() {
    for (const auto& address : found_.take_due(steady_now(), parts_.is_open))
        ask_at(address);
}

// With TLS the certificate says who is there, also if that node refuses this one as a client, as
// members do before they have added it.
void PeerFinder::ask_at(const std::string& address) {
    auto& client = asking_[address];
    client = std::make_unique<transport::MemberClient>(
        parts_.io, core::ClusterId{}, credentials_,
        [&log = parts_.log](transport::LogLevel /*level*/, const std::string& text) {
            log.debug("peers_found", text);
        });
    const auto asked_at = parts_.members_at();
    client->connect(address, patience,
                    [this, address, asked_at](const core::Result<core::Hello>& hello) {
                        answered(address, asked_at, hello);
                    });
}

void PeerFinder::answered(const std::string& address, core::LogId asked_at,
                          const core::Result<core::Hello>& hello) {
    const auto client = asking_.extract(address);
    if (is_stopped_ || client.empty()) return;
    const auto proven = client.mapped()->certified();
    if (hello && is_of_this_cluster(*hello)) {
        found_.answered({hello->node, address, *hello, asked_at});
    } else if (!hello && proven.is_set()) {
        found_.answered({proven, address});
    } else {
        if (!hello) parts_.log.debug("peers_found", address + ": " + hello.error().what);
        return found_.failed(address);
    }
    tell_ambiguity();
    parts_.looked();
}

bool PeerFinder::is_of_this_cluster(const core::Hello& hello) const {
    const auto own = parts_.cluster();
    const bool is_other = own.is_set() && !hello.is_empty() && hello.cluster != own;
    return !is_other && (hello.cluster_name.empty() || hello.cluster_name == parts_.config.cluster);
}

void PeerFinder::tell_ambiguity() {
    auto ambiguity = found_.ambiguity();
    if (ambiguity != ambiguity_ && !ambiguity.empty())
        parts_.log.warn("peers_ambiguous",
                        ambiguity +
                            ": give each node an id of its own; no cluster is formed with "
                            "either of them");
    ambiguity_ = std::move(ambiguity);
}

}  // namespace mortise::detail
