// What was reported of a peer that is not reached.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace mortise::transport {

class LinkReports {
public:
    // The owner of the link knows why the peer is not reached.
    [[nodiscard]] bool has_reason() const { return has_reason_; }
    void note_reason() { has_reason_ = true; }
    // True if that is not the last problem that was noted of the address.
    [[nodiscard]] bool note_problem(const std::string& address, std::string_view problem) {
        auto& noted = problems_[address];
        if (noted == problem) return false;
        noted = problem;
        return true;
    }
    void forget_problems() { problems_.clear(); }
    // The peer is reached.
    void clear() { *this = {}; }

private:
    bool has_reason_ = false;
    std::map<std::string, std::string> problems_;  // in the log, by address
};

}  // namespace mortise::transport
