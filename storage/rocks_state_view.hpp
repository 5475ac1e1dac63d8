#pragma once

#include <memory>

#include <rocksdb/db.h>
#include <rocksdb/snapshot.h>

#include "storage/rocks_settings.hpp"
#include "storage/state_rows.hpp"
#include "storage/state_store.hpp"

namespace mortise::storage {

// "A" as that snapshot has it, or as it is now. No row is the state before the first entry, of the
// incarnation that is given.
Result<AppliedRow> read_applied(const RocksDatabase& database, core::Incarnation incarnation,
                                const rocksdb::Snapshot* snapshot);

// Rows of one generation, in their order and each verified.
class RowReader {
public:
    RowReader(const RocksDatabase& database, std::uint64_t generation,
              const std::optional<std::string>& after, const rocksdb::Snapshot* snapshot);
    RowReader(const RowReader&) = delete;  // the iterator points into it
    RowReader& operator=(const RowReader&) = delete;

    [[nodiscard]] bool at_row() const { return rows_->Valid(); }
    // Of the row where it is, until it moves on.
    [[nodiscard]] std::string_view key() const;
    [[nodiscard]] Result<std::string_view> value() const;
    void next() { rows_->Next(); }
    // Whether no row is left because there is none.
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
