#include "tests/sim/run/seed_list.hpp"

#include <sstream>

#include "tests/sim/run/arguments.hpp"

namespace mortise::sim {

namespace {

std::vector<std::string> words_in(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream in{text};
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

Listed read_line(const std::string& line, std::size_t number) {
    const auto bad = [&](const std::string& why) {
        return BadList{"line " + std::to_string(number) + ": " + why};
    };
    const auto sharp = line.find('#');
    if (sharp == std::string::npos) throw bad("does not say what it was");
    const auto parsed = parse(words_in(line.substr(0, sharp)));
    if (const auto* wrong = std::get_if<BadArguments>(&parsed)) throw bad(wrong->why);
    const auto& arguments = std::get<Arguments>(parsed);
    if (!arguments.seed) throw bad("has no --seed");
    const auto begin = line.find_first_not_of(' ', sharp + 1);
    if (begin == std::string::npos) throw bad("does not say what it was");
    Listed listed;
    listed.options.seed = *arguments.seed;
    listed.options.steps = arguments.steps;
    listed.options.without = arguments.without;
    listed.what = line.substr(begin);
    return listed;
}

}  // namespace

std::vector<Listed> read_list(std::istream& in) {
    std::vector<Listed> all;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const auto begin = line.find_first_not_of(' ');
        if (begin == std::string::npos || line[begin] == '#') continue;
        all.push_back(read_line(line, number));
    }
    return all;
}

}  // namespace mortise::sim
