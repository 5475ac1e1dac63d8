// What is wrong with several members, in as few words as possible. Not for use by programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mortise::detail {

struct MemberProblem {
    std::string address;
    std::string text;  // may contain the address
};

// The text without the address, in the pieces around it. If it does not contain the address, it is
// about to stand in front.
[[nodiscard]] inline std::vector<std::string> pieces_around(const MemberProblem& problem) {
    std::vector<std::string> pieces;
    std::string_view rest{problem.text};
    for (auto at = rest.find(problem.address);
         at != std::string_view::npos && !problem.address.empty();
         at = rest.find(problem.address)) {
        pieces.emplace_back(rest.substr(0, at));
        rest.remove_prefix(at + problem.address.size());
    }
    if (!pieces.empty()) return pieces.emplace_back(rest), pieces;
    return {"", ": " + problem.text};
}

[[nodiscard]] inline std::string joined(const std::vector<std::string>& texts,
                                        std::string_view between) {
    std::string whole;
    for (std::size_t i = 0; i < texts.size(); ++i)
        whole.append(i == 0 ? "" : between).append(texts[i]);
    return whole;
}

// One line for each problem, in the order in which they came first. Members whose problems differ
// in nothing but the address share a line, which names all of them.
[[nodiscard]] inline std::vector<std::string> told_once(
    const std::vector<MemberProblem>& problems) {
    struct Told {
        std::vector<std::string> pieces;
        std::vector<std::string> addresses;
    };
    std::vector<Told> all;
    for (const auto& problem : problems) {
        auto pieces = pieces_around(problem);
        auto same = std::find_if(all.begin(), all.end(),
                                 [&](const Told& told) { return told.pieces == pieces; });
        if (same == all.end()) same = all.insert(all.end(), {std::move(pieces), {}});
        auto& addresses = same->addresses;
        if (std::find(addresses.begin(), addresses.end(), problem.address) == addresses.end())
            addresses.push_back(problem.address);
    }
    std::vector<std::string> lines;
    for (const auto& [pieces, addresses] : all)
        lines.push_back(joined(pieces, joined(addresses, ", ")));
    return lines;
}

// The same in one line.
[[nodiscard]] inline std::string told_in_one_line(const std::vector<MemberProblem>& problems) {
    return joined(told_once(problems), "; ");
}

}  // namespace mortise::detail
