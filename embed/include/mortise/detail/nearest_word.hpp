// Finds the word that somebody probably meant. Not for use by programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mortise::detail {

// The distance of optimal string alignment, row by row: row[j] is that of the first i letters of
// one word and the first j of the other.
[[nodiscard]] inline std::size_t differences(std::string_view one, std::string_view other) {
    std::vector<std::size_t> before_last;
    std::vector<std::size_t> last(other.size() + 1);
    for (std::size_t j = 0; j < last.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= one.size(); ++i) {
        std::vector<std::size_t> row(other.size() + 1, i);
        for (std::size_t j = 1; j <= other.size(); ++j) {
            const std::size_t change = one[i - 1] == other[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            const bool are_exchanged =
                i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if (are_exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last = std::exchange(last, std::move(row));
    }
    return last.back();
}

// The known word with the fewest differences, each of which is a letter that is missing, too many,
// another one, or exchanged with its neighbour. Empty if there are more than two, or more than a
// third of the letters.
[[nodiscard]] inline std::optional<std::string> nearest_word(
    std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t differences_max = 2;
    constexpr std::size_t word_bytes_max = 100;  // longer words are nothing that somebody mistyped
    if (word.size() > word_bytes_max) return std::nullopt;
    const auto most = std::min(differences_max, word.size() / 3);
    std::optional<std::string> nearest;
    auto fewest = most + 1;
    for (const auto& each : known) {
        const auto many = differences(word, each);
        if (many >= fewest) continue;
        fewest = many;
        nearest = each;
    }
    return nearest;
}

}  // namespace mortise::detail
