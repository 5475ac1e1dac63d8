#include "storage/state/rocks_state_view.hpp"

#include <utility>

#include "storage/log/log_rows.hpp"
#include "storage/rocks/sealed_row.hpp"

namespace mortise::storage {

Error damaged(const RocksDatabase& database, const std::string& what) {
    return make_error(Errc::damaged, database.path.string() + ": " + what);
}

Result<AppliedRow> read_applied(const RocksDatabase& database, core::Incarnation incarnation,
                                const rocksdb::Snapshot* snapshot) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    std::string bytes;
    auto status =
        database.db->Get(options, rocksdb::Slice{applied_key.data(), applied_key.size()}, &bytes);
    if (status.IsNotFound()) {
        AppliedRow before_the_first;
        before_the_first.incarnation = incarnation;
        return before_the_first;
    }
    if (!status.ok()) return to_error(status, database.path);
    if (is_of_later_version(bytes)) {
        return make_error(Errc::newer_format,
                          database.path.string() + ": the state is of a later version");
    }
    auto row = decode_applied(bytes);
    if (!row) return damaged(database, "the record of what is applied is damaged");
    if (row->incarnation != incarnation)
        return damaged(database, "it belongs to another directory");
    return *std::move(row);
}

RowReader::RowReader(const RocksDatabase& database, std::uint64_t row_set,
                     const std::optional<std::string>& after, const rocksdb::Snapshot* snapshot)
    : database_{database}, end_{row_set_begin(row_set + 1)}, bound_{end_} {
    rocksdb::ReadOptions once;
    once.fill_cache = false;
    once.snapshot = snapshot;
    once.iterate_upper_bound = &bound_;
    rows_.reset(database.db->NewIterator(once));
    if (!after) {
        rows_->Seek(row_set_begin(row_set));
        return;
    }
    const auto last = row_key(row_set, *after);
    rows_->Seek(last);
    if (rows_->Valid() && rows_->key() == last) rows_->Next();
}

std::string_view RowReader::key() const {
    return rows_->key().ToStringView().substr(row_key_head_bytes);
}

Result<std::string_view> RowReader::value() const {
    const auto content = unseal(rows_->key().ToStringView(), rows_->value().ToStringView());
    if (!content) return damaged(database_, "a row of the state is damaged");
    return *content;
}

Result<void> RowReader::end() const {
    if (!rows_->status().ok()) return to_error(rows_->status(), database_.path);
    return {};
}

Result<std::unique_ptr<StateView>> RocksStateView::make(const RocksDatabase& database,
                                                        core::Incarnation incarnation) {
    auto view = std::make_unique<RocksStateView>(database);
    auto about = read_applied(database, incarnation, view->snapshot_.snapshot());
    if (!about) return std::move(about).error();
    view->about_ = *std::move(about);
    return std::unique_ptr<StateView>{std::move(view)};
}

Result<StatePage> RocksStateView::read(const std::optional<std::string>& after,
                                       std::size_t bytes_max) {
    RowReader rows{database_, about_.row_set, after, snapshot_.snapshot()};
    StatePage page;
    std::size_t bytes = 0;
    for (; rows.at_row(); rows.next()) {
        const auto value = rows.value();
        if (!value) return value.error();
        bytes += rows.key().size() + value->size();
        if (!page.rows.empty() && bytes > bytes_max) return page;
        page.rows.push_back({std::string{rows.key()}, std::string{*value}});
    }
    if (auto ended = rows.end(); !ended) return std::move(ended).error();
    page.done = true;
    return page;
}

}  // namespace mortise::storage
