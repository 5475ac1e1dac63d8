#include "storage/directory/salvage.hpp"

#include "core/codec/configuration_codec.hpp"
#include "storage/log/log_rows.hpp"
#include "storage/rocks/read_only.hpp"
#include "storage/rocks/rocks_settings.hpp"
#include "storage/state/state_rows.hpp"

namespace mortise::storage {

namespace {

// Opens a database without changing anything.
RocksDatabase open_to_read(const std::filesystem::path& path, const Seams& seams) {
    auto prepared = prepare_database(path, seams.files);
    if (!prepared) return {};
    auto database = *std::move(prepared);
    auto options = log_options(*database.env, database.errors);
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    static_cast<void>(open_read_only(options, database));
    return database;
}

core::ClusterId cluster_in_entries(const RocksDatabase& database) {
    const std::unique_ptr<rocksdb::Iterator> rows{database.db->NewIterator({})};
    for (rows->Seek(entry_key(core::LogIndex{})); rows->Valid(); rows->Next()) {
        const auto index = index_of_key(rows->key().ToStringView());
        if (!index) break;
        const auto row = decode_entry(*index, rows->value().ToStringView());
        if (!row || row->entry.kind != core::EntryKind::configuration) continue;
        if (const auto found = core::decode_configuration(row->entry.payload))
            return found->cluster;
    }
    return {};
}

void look_into_log(const RocksDatabase& database, Meta& meta) {
    if (!database.db) return;
    const auto head = decode_log_head(row_of(database, log_head_key));
    if (!head) return;
    meta.node = head->node;
    meta.incarnation = head->incarnation;
    meta.cluster = head->base.configuration.cluster;
    if (!meta.cluster.is_set()) meta.cluster = cluster_in_entries(database);
}

}  // namespace

// The state does not name its node, only the incarnation.
Meta salvage(const std::filesystem::path& directory, const Seams& seams) {
    Meta meta;
    look_into_log(open_to_read(directory / "log", seams), meta);
    if (meta.cluster.is_set()) return meta;
    const auto state = open_to_read(directory / "state", seams);
    if (!state.db) return meta;
    if (const auto row = decode_applied(row_of(state, applied_key))) {
        if (!meta.node.is_set()) meta.incarnation = row->incarnation;
        meta.cluster = row->configuration.cluster;
    }
    return meta;
}

}  // namespace mortise::storage
