#include "embed/console/member_watch.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "embed/http/own_thread.hpp"

namespace mortise::console {

namespace {

using namespace std::chrono_literals;

constexpr auto period = 1s;
constexpr auto answer_patience = 1s;
constexpr auto attention = 15s;  // after the last look

// Without TLS everybody may ask a member how it is.
bool can_ask(const Node& node, const TlsConfig& tls) {
    return tls.is_set() || !node.metrics().certificate_left.is_set();
}

}  // namespace

MemberWatch::MemberWatch(Node& node, TlsConfig tls)
    : node_{node},
      tls_{std::move(tls)},
      can_ask_{can_ask(node_, tls_)},
      thread_{http::start_thread("mortise-members", [this] { run(); })} {}

MemberWatch::~MemberWatch() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::map<NodeId, MemberWatch::Seen> MemberWatch::seen() {
    const std::lock_guard lock{mutex_};
    looked_at_ = Clock::now();
    changed_.notify_all();
    return seen_;
}

void MemberWatch::run() {
    while (wait_for_turn()) {
        try {
            ask_all();
        } catch (const std::exception&) {  // no memory, or files that cannot be read: tried again
        }
    }
}

// A period after the last time, as long as somebody looks.
bool MemberWatch::wait_for_turn() {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, period, [&] { return stopped_; });
    changed_.wait(lock, [&] {
        const bool is_watched = looked_at_ && Clock::now() - *looked_at_ < attention;
        return stopped_ || (can_ask_ && is_watched);
    });
    return !stopped_;
}

bool MemberWatch::is_stopped() {
    const std::lock_guard lock{mutex_};
    return stopped_;
}

void MemberWatch::ask_all() {
    const auto status = node_.status();
    {
        const std::lock_guard lock{mutex_};
        std::erase_if(seen_, [&](const auto& each) {
            return std::ranges::none_of(status.members,
                                        [&](const auto& one) { return one.id == each.first; });
        });
    }
    for (const auto& member : status.members) {
        if (is_stopped()) return;
        if (member.id != status.id) ask(member);
    }
}

void MemberWatch::ask(const MemberInfo& member) {
    MemberReport report;
    try {
        auto remote = tls_.is_set() ? Remote{{member.address}, answer_patience, tls_}
                                    : Remote{{member.address}, answer_patience};
        report = std::move(remote.status().front());
    } catch (const std::system_error& error) {
        report.error = error.code();
        report.problem = error.what();
    }
    const std::lock_guard lock{mutex_};
    auto& seen = seen_[member.id];
    seen.at = Clock::now();
    seen.answered = !report.error;
    seen.problem = std::move(report.problem);
    if (report.error) return;
    seen.status = std::move(report.status);
    seen.has_status = true;
}

}  // namespace mortise::console
