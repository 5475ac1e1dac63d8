#include "tests/conversations/news.hpp"

#include <algorithm>
#include <utility>

#include "core/codec/command_codec.hpp"

namespace mortise::conversations {

namespace {

bool only_renews(const core::Entry& entry) {
    if (!core::has_commands(entry.kind)) return false;
    const auto commands = core::decode_batch(entry.payload);
    return commands && std::ranges::all_of(*commands, [](const core::Command& command) {
               return std::holds_alternative<core::Renew>(command);
           });
}

}  // namespace

bool News::is_news(const core::Entry& entry) {
    if (!only_renews(entry)) {
        routine_.erase(entry.id.index);  // another leader's entry may replace one
    } else if (renewals_are_routine_ && !told_.contains(entry.id)) {
        routine_.insert(entry.id.index);
    }
    return !routine_.contains(entry.id.index);
}

bool News::is_news(const core::Write& write) {
    if (write.reset || write.hard_state || write.truncate_from) return true;
    bool news = false;
    for (const auto& entry : write.append)
        news = is_news(entry) || news;
    return news;
}

bool News::is_news(core::NodeId from, core::NodeId to, const core::PeerMessage& message) {
    if (const auto* forward = std::get_if<core::Forward>(&message))
        return !renewals_are_routine_ || !forward->batch.empty();
    if (std::holds_alternative<core::FormationOffer>(message))
        return offered_.insert({from, to}).second;
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    if (raft == nullptr) return true;
    if (const auto* append = std::get_if<core::AppendRequest>(raft))
        return is_news(requests_[{from, to}], *append);
    if (const auto* reply = std::get_if<core::AppendReply>(raft))
        return is_news(replies_[{from, to}], *reply);
    if (const auto* request = std::get_if<core::PreVoteRequest>(raft))
        return is_news({from, to}, *request);
    return true;
}

bool News::is_news(const Pair& pair, const core::PreVoteRequest& request) {
    const auto [asked, is_first] = pre_votes_.emplace(pair, request);
    const bool news =
        is_first || asked->second.term != request.term || asked->second.last != request.last;
    asked->second = request;
    return news;
}

std::vector<core::Note> News::news_of(core::NodeId node, const std::vector<core::Note>& notes) {
    using Kind = core::Note::Kind;
    std::vector<core::Note> news;
    for (const auto& note : notes) {
        const bool is_repeated = note.kind == Kind::became_pre_candidate &&
                                 std::exchange(asks_in_[node], note.term) == note.term;
        if (is_repeated) continue;
        const auto* before = news.empty() ? nullptr : &news.back();
        if (note.kind == Kind::became_follower && before != nullptr && before->kind == note.kind &&
            before->term == note.term && !before->peer.is_set())
            news.pop_back();
        news.push_back(note);
    }
    return news;
}

bool News::is_news(core::NodeId node, const std::vector<core::Member>& peers) {
    std::set<core::NodeId> others;
    for (const auto& peer : peers) {
        if (peer.id != node) others.insert(peer.id);
    }
    return std::exchange(peers_[node], others) != others;
}

bool News::is_news(Told& told, const core::AppendRequest& append) {
    bool news = append.term != told.term || append.read_round != told.read_round ||
                append.previous.index < told.previous ||
                has_news_between(told.reached, append.commit);
    for (const auto& entry : append.entries)
        news = is_news(entry) || news;
    told = {append.term,
            append.previous.index,
            std::max(told.reached, append.commit),
            append.read_round,
            {},
            {}};
    return news;
}

bool News::is_news(Told& told, const core::AppendReply& reply) {
    const auto rejected = reply.rejected ? reply.previous : core::LogIndex{};
    const bool news = rejected != told.rejected || reply.term != told.term ||
                      reply.read_round != told.read_round || reply.run_out != told.run_out ||
                      has_news_between(told.reached, reply.match);
    told = {reply.term,    {},      std::max(told.reached, reply.match), reply.read_round,
            reply.run_out, rejected};
    return news;
}

bool News::has_news_between(core::LogIndex after, core::LogIndex last) const {
    for (auto index = after.next(); index <= last; index = index.next()) {
        if (!routine_.contains(index)) return true;
    }
    return false;
}

}  // namespace mortise::conversations
