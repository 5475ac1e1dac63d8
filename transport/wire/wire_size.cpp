#include "transport/wire/wire_size.hpp"

#include "core/codec/configuration_codec.hpp"

namespace mortise::transport {

namespace {

// A struct has its data words, one word for each pointer, and what those point to. A list of
// structs has one word before its elements.
constexpr std::size_t log_id_words = 2;
constexpr std::size_t renewal_words = 2;
constexpr std::size_t run_out_words = 2;

std::size_t data_words(std::size_t bytes) {
    return (bytes + 7) / 8;
}

std::size_t words(const core::Entry& entry) {
    return 4 + 1 + data_words(entry.payload.size());
}

std::size_t words(const core::PreVoteRequest& /*m*/) {
    return 2 + 1 + log_id_words;
}
std::size_t words(const core::PreVoteReply& /*m*/) {
    return 3;
}
std::size_t words(const core::VoteRequest& /*m*/) {
    return 3 + 1 + log_id_words;
}
std::size_t words(const core::VoteReply& /*m*/) {
    return 3;
}
std::size_t words(const core::AppendRequest& m) {
    std::size_t sum = 5 + 2 + log_id_words + 1;
    for (const auto& entry : m.entries)
        sum += words(entry);
    return sum;
}
std::size_t words(const core::AppendReply& m) {
    return 5 + 3 + log_id_words + 1 + m.run_out.size() * run_out_words + m.closures_run_out.size();
}
std::size_t words(const core::TimeoutNow& /*m*/) {
    return 1 + 1 + log_id_words;
}
std::size_t words(const core::ReadRequest& /*m*/) {
    return 2;
}
std::size_t words(const core::ReadReply& /*m*/) {
    return 3;
}
std::size_t words(const core::SnapshotChunk& m) {
    std::size_t sum = 4 + 3 + log_id_words + 1;
    sum += data_words(core::encode_configuration(m.configuration).size());
    for (const auto& row : m.rows)
        sum += 2 + data_words(row.key.size()) + data_words(row.value ? row.value->size() : 0);
    return sum;
}
std::size_t words(const core::SnapshotReply& /*m*/) {
    return 3 + 1 + log_id_words;
}
std::size_t words(const core::NotAMember& /*m*/) {
    return 1 + 1 + log_id_words;
}
std::size_t words(const core::RaftMessage& m) {
    return std::visit([](const auto& one) { return words(one); }, m);
}
std::size_t words(const core::FormationOffer& m) {
    return words(m.founding);
}
std::size_t words(const core::Forward& m) {
    return 3 + data_words(m.batch.size()) + renewal_words;
}
std::size_t words(const core::MembershipRequest& m) {
    return 4 + 1 + 4 + data_words(m.goal.address.size());
}
std::size_t words(const core::MembershipReply& /*m*/) {
    return 4;
}
std::size_t words(const core::StreamGap& /*m*/) {
    return 2;
}
std::size_t words(const core::Superseded& /*m*/) {
    return 3;
}
std::size_t words(const core::FormationQuestion& /*m*/) {
    return 2;
}
std::size_t words(const core::FormationAnswer& /*m*/) {
    return 1;
}

}  // namespace

std::size_t wire_words(const core::PeerMessage& message) {
    constexpr std::size_t element = 1 + 1;
    return element + std::visit([](const auto& one) { return words(one); }, message);
}

}  // namespace mortise::transport
