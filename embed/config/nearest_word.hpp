// Finds the word that somebody probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::detail {

// The known word with the fewest differences, each of which is a letter that is missing, too many,
// another one, or exchanged with its neighbour. Empty if there are more than two, or more than a
// third of the letters.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word,
                                                      const std::vector<std::string>& known);

}  // namespace mortise::detail
