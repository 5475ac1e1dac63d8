#include "core/observe/name_prefixes.hpp"

#include <algorithm>
#include <utility>

namespace mortise::core {

NamePrefixes::NamePrefixes(std::vector<std::string> prefixes) : given_{std::move(prefixes)} {
    for (std::size_t number = 0; number < given_.size(); ++number)
        sorted_.push_back({given_[number], number, 0});
    std::ranges::sort(sorted_, {}, &Prefix::text);
    for (std::size_t at = 0; at < sorted_.size(); ++at) {
        auto shorter = at;
        while (shorter != 0 && !sorted_[at].text.starts_with(sorted_[shorter - 1].text))
            --shorter;
        sorted_[at].shorter = shorter;
    }
}

// A prefix of the name is not after the name, and everything between the two begins with it. So it
// is the last one that is not after the name, or a prefix of that one.
std::size_t NamePrefixes::group_of(std::string_view name) const {
    const auto after = std::ranges::upper_bound(
        sorted_, name, {}, [](const Prefix& prefix) { return std::string_view{prefix.text}; });
    auto at = static_cast<std::size_t>(after - sorted_.begin());
    while (at != 0 && !name.starts_with(sorted_[at - 1].text))
        at = sorted_[at - 1].shorter;
    return at == 0 ? given_.size() : sorted_[at - 1].number;
}

}  // namespace mortise::core
