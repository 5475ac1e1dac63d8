#include "core/raft/entry.hpp"

#include "core/base/checksum.hpp"
#include "core/codec/configuration_codec.hpp"

namespace mortise::core {

namespace {

std::uint64_t checksum_of(const Entry& entry) {
    Checksum sum;
    sum.number(entry.id.term.raw());
    sum.number(entry.id.index.raw());
    sum.number(static_cast<std::uint64_t>(entry.kind));
    sum.text(entry.payload.view());
    return sum.value();
}

}  // namespace

Entry make_entry(LogId id, EntryKind kind, Bytes payload) {
    Entry entry{id, kind, 0, std::move(payload)};
    entry.checksum = checksum_of(entry);
    return entry;
}

Entry founding_entry(const Configuration& of_any_time) {
    return make_entry({Term{1}, LogIndex{1}}, EntryKind::configuration,
                      encode_configuration(of_any_time.founding()));
}

bool is_intact(const Entry& entry) {
    return entry.checksum == checksum_of(entry);
}

std::size_t weight(const Entry& entry) {
    return sizeof(Entry) + entry.payload.size();
}

}  // namespace mortise::core
