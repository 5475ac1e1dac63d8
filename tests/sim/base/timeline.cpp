#include "tests/sim/base/timeline.hpp"

namespace mortise::sim {

std::string show_time(SimTime time) {
    char text[40];
    std::snprintf(text, sizeof text, "%lld.%06lld", static_cast<long long>(time / sim_second),
                  static_cast<long long>(time % sim_second / sim_microsecond));
    return text;
}

void Timeline::say(core::NodeId node, const char* text, std::uint64_t a, std::uint64_t b) {
    const Line line{heap_.now(), node, text, a, b};
    if (watched_ != nullptr) std::fprintf(watched_, "%s\n", in_words(line).c_str());
    if (lines_.size() < lines_kept_) {
        lines_.push_back(line);
    } else {
        lines_[next_] = line;
    }
    next_ = (next_ + 1) % lines_kept_;
}

std::vector<std::string> Timeline::last_lines() const {
    std::vector<std::string> shown;
    const auto first = lines_.size() < lines_kept_ ? 0 : next_;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        shown.push_back(in_words(lines_[(first + i) % lines_.size()]));
    }
    return shown;
}

std::string Timeline::in_words(const Line& line) {
    auto words = "[" + show_time(line.time) + "] ";
    words += line.node.is_set() ? "node " + std::to_string(line.node.raw()) + ": " : "";
    const std::uint64_t numbers[] = {line.a, line.b};
    std::size_t used = 0;
    for (const char* at = line.text; *at != '\0'; ++at) {
        if (at[0] == '{' && at[1] == '}' && used < 2) {
            words += std::to_string(numbers[used++]);
            ++at;
        } else {
            words.push_back(*at);
        }
    }
    return words;
}

}  // namespace mortise::sim
