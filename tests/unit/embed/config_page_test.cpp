// Compares docs/configuration.md with the configuration.
#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "embed/config/config_keys.hpp"
#include <mortise/config.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct PageRow {
    std::string default_value;
    std::string allowed;
};

// Without the blanks around them, and without the backquotes of a cell that is code.
std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells;
    for (auto at = row.find('|') + 1; at < row.size(); at = row.find('|', at) + 1) {
        auto cell = row.substr(at, row.find('|', at) - at);
        cell.erase(0, cell.find_first_not_of(' '));
        cell.erase(cell.find_last_not_of(' ') + 1);
        if (std::ranges::count(cell, '`') == 2 && cell.starts_with('`') && cell.ends_with('`'))
            cell = cell.substr(1, cell.size() - 2);
        cells.push_back(std::move(cell));
    }
    return cells;
}

// The rows "| `timing.heartbeat` | `100ms` | from ... |" of the page, by key.
std::map<std::string, PageRow> rows_of_the_page() {
    std::map<std::string, PageRow> rows;
    std::ifstream page{"docs/configuration.md"};
    EXPECT_TRUE(page.is_open());
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| `")) continue;
        const auto cells = cells_of(line);
        rows[cells.at(0)] = {cells.at(1), cells.at(2)};
    }
    return rows;
}

template <class Value>
std::string text_of(const Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) return value;
    if constexpr (std::is_same_v<Value, std::vector<std::string>>)
        return value.empty() ? "" : value.front();
    if constexpr (std::is_same_v<Value, std::filesystem::path>) return value.string();
    if constexpr (std::is_same_v<Value, double>) {
        const auto text = std::to_string(value);
        return text.substr(0, text.find_last_not_of('0') + 1);
    }
    if constexpr (std::is_same_v<Value, bool>) return value ? "true" : "false";
    if constexpr (std::is_integral_v<Value>) return std::to_string(value);
    if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, Duration>)
        return std::string{to_string(value)};
}

// A value above the allowed range.
template <class Value>
void exceed(Value& value) {
    if constexpr (std::is_same_v<Value, Duration>) value = 100h;
    if constexpr (std::is_same_v<Value, double>) value = 1;
    if constexpr (std::is_same_v<Value, std::uint64_t>)
        value = std::numeric_limits<std::uint64_t>::max();
}

std::string complaint(const Config& config) {
    try {
        config.validate();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(ConfigPage, HasEveryKeyWithItsDefaultAndNoOther) {
    auto rows = rows_of_the_page();
    Config defaults;
    detail::for_each_key(defaults, [&](std::string_view key, const auto& value) {
        const auto row = rows.find(std::string{key});
        ASSERT_NE(row, rows.end()) << key;
        EXPECT_EQ(row->second.default_value, text_of(value)) << key;
        rows.erase(row);
    });
    for (const auto& [key, row] : rows)
        ADD_FAILURE() << "there is no key " << key;
}

TEST(ConfigPage, GivesTheRangesThatAreChecked) {
    const auto rows = rows_of_the_page();
    std::size_t ranges = 0;
    Config config = Config::single_node("d");
    detail::for_each_key(config, [&](std::string_view key, auto& value) {
        const auto& allowed = rows.at(std::string{key}).allowed;
        if (!allowed.starts_with("from ")) return;
        const auto before = value;
        exceed(value);
        EXPECT_THAT(complaint(config), testing::StartsWith(std::string{key} + ": "));
        EXPECT_THAT(complaint(config), HasSubstr(allowed.substr(0, allowed.find(';'))));
        value = before;
        ++ranges;
    });
    EXPECT_EQ(ranges, 14U);
}

TEST(ConfigPage, GivesTheMostVoters) {
    std::ifstream page{"docs/configuration.md"};
    const std::string text{std::istreambuf_iterator<char>{page}, {}};
    Config config = Config::single_node("d");
    config.listen = "127.0.0.1:1";
    for (NodeId id = 1; id <= 100; ++id)
        config.peers.push_back({id, "127.0.0.1:" + std::to_string(id)});
    const auto refusal = complaint(config);
    const auto begin = refusal.find("at most");
    ASSERT_NE(begin, std::string::npos) << refusal;
    EXPECT_THAT(text, HasSubstr(refusal.substr(begin, refusal.find(',') - begin)));
}

}  // namespace
}  // namespace mortise
