#include <utility>

#include "storage/directory/memory_directory.hpp"

namespace mortise::storage {

namespace {

class MemoryStateView final : public StateView {
public:
    explicit MemoryStateView(const MemoryDirectory& directory)
        : applied_{directory.applied},
          configuration_{directory.configuration},
          rows_{directory.rows} {}

    [[nodiscard]] const core::LogId& applied() const override { return applied_; }
    [[nodiscard]] const core::Configuration& configuration() const override {
        return configuration_;
    }
    [[nodiscard]] Result<StatePage> read(const std::optional<std::string>& after,
                                         std::size_t bytes_max) override {
        StatePage page;
        std::size_t bytes = 0;
        for (auto row = after ? rows_.upper_bound(*after) : rows_.begin(); row != rows_.end();
             ++row) {
            bytes += row->first.size() + row->second.size();
            if (!page.rows.empty() && bytes > bytes_max) return page;
            page.rows.push_back({row->first, row->second});
        }
        page.done = true;
        return page;
    }

private:
    core::LogId applied_;
    core::Configuration configuration_;
    std::map<std::string, std::string> rows_;
};

}  // namespace

MemoryStateStore::MemoryStateStore(std::shared_ptr<MemoryDirectory> directory)
    : directory_{std::move(directory)} {}

Result<void> MemoryStateStore::write(const StateWrite& write) {
    if (failed_) return *failed_;
    if (goes_back(write.applied, write.configuration)) return fail("the state cannot go back");
    directory_->applied = write.applied;
    directory_->configuration = write.configuration;
    directory_->is_installed = false;
    for (const auto& row : write.rows) {
        if (row.value) {
            directory_->rows.insert_or_assign(row.key, *row.value);
        } else {
            directory_->rows.erase(row.key);
        }
    }
    return {};
}

Result<core::LogIndex> MemoryStateStore::flush() {
    if (failed_) return *failed_;
    return directory_->applied.index;
}

Result<void> MemoryStateStore::save_countdowns(const core::SavedCountdowns& countdowns) {
    if (failed_) return *failed_;
    directory_->countdowns = countdowns;
    return {};
}

Result<std::unique_ptr<StateView>> MemoryStateStore::view() {
    if (failed_) return *failed_;
    return std::unique_ptr<StateView>{std::make_unique<MemoryStateView>(*directory_)};
}

Result<void> MemoryStateStore::begin_install(const core::LogId& last,
                                             const core::Configuration& configuration) {
    if (failed_) return *failed_;
    if (goes_back(last, configuration)) return fail("an installed state cannot go back");
    installing_ = Installing{last, configuration, {}};
    return {};
}

Result<void> MemoryStateStore::install(std::span<const core::Row> rows) {
    if (failed_) return *failed_;
    if (!installing_) return fail("no install was begun");
    for (const auto& row : rows) {
        if (!row.value) return fail("a row without a value is installed");
        installing_->rows.insert_or_assign(row.key, *row.value);
    }
    return {};
}

Result<void> MemoryStateStore::finish_install() {
    if (failed_) return *failed_;
    if (!installing_) return fail("no install was begun");
    if (goes_back(installing_->last, installing_->configuration))
        return fail("an installed state cannot go back");
    auto installed = *std::exchange(installing_, std::nullopt);
    directory_->applied = installed.last;
    directory_->configuration = std::move(installed.configuration);
    directory_->is_installed = true;
    directory_->rows = std::move(installed.rows);
    return {};
}

// Terms are those of one cluster: a recovery begins them anew.
bool MemoryStateStore::goes_back(const core::LogId& to, const core::Configuration& of) const {
    const bool is_same = of.cluster == directory_->configuration.cluster;
    return to.index < directory_->applied.index || (is_same && to.term < directory_->applied.term);
}

Result<void> MemoryStateStore::fail(const std::string& what) {
    failed_ = {std::make_error_code(std::errc::invalid_argument), "memory: " + what};
    return *failed_;
}

}  // namespace mortise::storage
