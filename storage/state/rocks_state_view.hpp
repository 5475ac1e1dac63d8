#pragma once

#include <memory>

#include <rocksdb/db.h>
#include <rocksdb/snapshot.h>

#include "storage/rocks/rocks_settings.hpp"
#include "storage/state/state_rows.hpp"
#include "storage/state/state_store.hpp"

namespace mortise::storage {

[[nodiscard]] Error damaged(const RocksDatabase& database, const std::string& what);

// Row "A" in that snapshot, or now. Without the row it is the state before the first entry, with
// the given incarnation.
Result<AppliedRow> read_applied(const RocksDatabase& database, core::Incarnation incarnation,
                                const rocksdb::Snapshot* snapshot);

// Reads the rows of one row set in order and verifies each.
class RowReader {
public:
    RowReader(const RocksDatabase& database, std::uint64_t row_set,
              const std::optional<std::string>& after, const rocksdb::Snapshot* snapshot);
    RowReader(const RowReader&) = delete;  // the iterator points into it
    RowReader& operator=(const RowReader&) = delete;

    [[nodiscard]] bool at_row() const { return rows_->Valid(); }
    // The present row's, until the next move.
    [[nodiscard]] std::string_view key() const;
    [[nodiscard]] Result<std::string_view> value() const;
    void next() { rows_->Next(); }
    // Whether the end was reached without an error.
    [[nodiscard]] Result<void> end() const;

private:
    const RocksDatabase& database_;
    std::string end_;
    rocksdb::Slice bound_;
    std::unique_ptr<rocksdb::Iterator> rows_;
};

class RocksStateView final : public StateView {
public:
    static Result<std::unique_ptr<StateView>> make(const RocksDatabase& database,
                                                   core::Incarnation incarnation);

    explicit RocksStateView(const RocksDatabase& database)
        : database_{database}, snapshot_{database.db.get()} {}

    [[nodiscard]] const core::LogId& applied() const override { return about_.applied; }
    [[nodiscard]] const core::Configuration& configuration() const override {
        return about_.configuration;
    }
    [[nodiscard]] Result<StatePage> read(const std::optional<std::string>& after,
                                         std::size_t bytes_max) override;

private:
    const RocksDatabase& database_;
    rocksdb::ManagedSnapshot snapshot_;
    AppliedRow about_;
};

}  // namespace mortise::storage
