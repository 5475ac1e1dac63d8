#include <utility>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/convert_raft.hpp"

namespace mortise::transport {

void put_snapshot(const core::SnapshotChunk& m, wire::SnapshotChunk::Builder to) {
    to.setTerm(m.term.raw());
    put_log_id(m.last, to.initLast());
    to.setConfiguration(data_of(core::encode_configuration(m.configuration).view()));
    to.setPosition(m.position);
    to.setDone(m.done);
    to.setChecksum(m.checksum);
    to.setCut(m.cut);
    if (m.rows.empty()) return;
    auto rows = to.initRows(static_cast<unsigned>(m.rows.size()));
    for (unsigned i = 0; i < rows.size(); ++i) {
        MORTISE_CHECK(m.rows[i].value.has_value());  // a snapshot has no removed rows
        rows[i].setKey(data_of(m.rows[i].key));
        rows[i].setValue(data_of(*m.rows[i].value));
    }
}

core::SnapshotChunk get_snapshot(CheckedReading& reading, wire::SnapshotChunk::Reader from) {
    core::SnapshotChunk m;
    m.term = reading.term(from.getTerm(), "SnapshotChunk.term");
    m.last = get_log_id(reading, from.getLast(), "SnapshotChunk.last");
    auto configuration = core::decode_configuration(
        reading.bytes(from.getConfiguration(), payload_bytes_max, "SnapshotChunk.configuration"));
    if (!configuration) reading.fail(Malformed::unknown_kind, "SnapshotChunk.configuration");
    m.configuration = std::move(configuration).value_or(core::Configuration{});
    m.position = from.getPosition();
    m.done = from.getDone();
    m.checksum = from.getChecksum();
    m.cut = from.getCut();
    reading.list(from.getRows(), rows_max, "SnapshotChunk.rows", [&](auto each) {
        auto key = reading.text(each.getKey(), row_key_bytes_max, "SnapshotChunk.rows.key");
        if (!m.rows.empty() && key <= m.rows.back().key)
            reading.fail(Malformed::bad_order, "SnapshotChunk.rows");
        m.rows.push_back({std::move(key), reading.text(each.getValue(), row_value_bytes_max,
                                                       "SnapshotChunk.rows.value")});
    });
    return m;
}

void put_snapshot(const core::SnapshotReply& m, wire::SnapshotReply::Builder to) {
    to.setTerm(m.term.raw());
    put_log_id(m.last, to.initLast());
    to.setNext(m.next);
    to.setInstalled(m.installed);
    to.setRefused(m.refused);
}

core::SnapshotReply get_snapshot(CheckedReading& reading, wire::SnapshotReply::Reader from) {
    return {reading.term(from.getTerm(), "SnapshotReply.term"),
            get_log_id(reading, from.getLast(), "SnapshotReply.last"), from.getNext(),
            from.getInstalled(), from.getRefused()};
}

}  // namespace mortise::transport
