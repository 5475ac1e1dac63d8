#include "embed/runtime/client_reads.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "embed/runtime/translate.hpp"
#include "embed/values/clocks.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::detail {

namespace {

constexpr core::Nanoseconds ask_again_after = std::chrono::milliseconds{20};

}  // namespace

void ClientReads::add(core::InspectCall call, core::Instant gives_up) {
    const auto tag = call.tag;
    reads_.emplace(tag, Read{std::move(call), gives_up});
    ask_next();
}

void ClientReads::use(Ask member) {
    member_ = std::move(member);
    asking_ = std::make_shared<bool>(true);
    asked_.clear();
    ask_again_at_ = core::Instant::never();
    for (auto& [tag, read] : reads_)
        read.found.clear();
    ask_next();
}

// A member refuses more listings of one client at a time.
void ClientReads::ask_next() {
    if (!member_ || ask_again_at_ != core::Instant::never()) return;
    for (const auto& [tag, read] : reads_) {
        if (asked_.size() >= transport::lists_per_client_max) return;
        if (asked_.insert(tag).second) ask(read);
    }
}

void ClientReads::ask(const Read& read) {
    const auto& call = read.call;
    transport::ListRequest request;
    request.prefix = call.name;
    request.is_exact = !call.is_prefix;
    request.local = call.local;
    request.after = read.found.empty() ? call.after : read.found.back().name;
    request.limit = std::min(call.limit - read.found.size(), list_page_max);
    member_(request, [this, tag = call.tag,
                      weak = std::weak_ptr{asking_}](core::Result<transport::ListAnswer> answer) {
        if (!weak.lock()) return;
        const bool heard = answer.has_value();
        take(tag, std::move(answer));
        events_.changed(heard);
    });
}

// If the connection has broken, the next member is asked.
void ClientReads::take(core::CallTag tag, core::Result<transport::ListAnswer> answer) {
    const auto found = reads_.find(tag);
    if (!answer || found == reads_.end()) {
        if (answer) asked_.erase(tag);
        return ask_next();
    }
    if (auto* page = std::get_if<transport::ListReply>(&*answer))
        return take_page(found->second, std::move(*page));
    if (auto* denied = std::get_if<core::Denied>(&*answer))
        return end(tag, {tag, std::move(*denied)});
    const auto error = std::get<core::CallError>(*answer);
    if (error != core::CallError::resource_exhausted) return end(tag, {tag, error});
    asked_.erase(tag);
    ask_again_at_ = steady_now() + ask_again_after;
}

// A page may be short because its locks have many holders.
void ClientReads::take_page(Read& read, transport::ListReply page) {
    const bool goes_on = page.more && !page.locks.empty() && read.call.is_prefix;
    std::ranges::move(page.locks, std::back_inserter(read.found));
    if (goes_on && read.found.size() < read.call.limit) return ask(read);
    const auto tag = read.call.tag;
    end(tag, {tag, core::Viewed{std::move(read.found)}});
}

void ClientReads::end(core::CallTag tag, core::CallAnswer answer) {
    reads_.erase(tag);
    asked_.erase(tag);
    events_.answered(std::move(answer));
    ask_next();
}

void ClientReads::on_timer(core::Instant now) {
    std::vector<core::CallTag> over;
    for (const auto& [tag, read] : reads_) {
        if (read.gives_up <= now) over.push_back(tag);
    }
    for (const auto tag : over)
        end(tag, {tag, core::CallError::no_quorum});
    if (!over.empty()) events_.changed(false);
    if (now < ask_again_at_) return;
    ask_again_at_ = core::Instant::never();
    ask_next();
}

core::Instant ClientReads::deadline() const {
    auto next = ask_again_at_;
    for (const auto& [tag, read] : reads_)
        next = std::min(next, read.gives_up);
    return next;
}

}  // namespace mortise::detail
