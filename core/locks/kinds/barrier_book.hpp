// In which barriers a live session takes part (S35): they break when it ends.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"

namespace mortise::core {

class BarrierBook {
public:
    using Names = std::set<std::string, std::less<>>;

    void join(SessionId session, std::string_view name) { names_[session].emplace(name); }
    void leave(SessionId session, std::string_view name) {
        const auto found = names_.find(session);
        if (found == names_.end()) return;
        if (const auto its = found->second.find(name); its != found->second.end())
            found->second.erase(its);
        if (found->second.empty()) names_.erase(found);
    }
    [[nodiscard]] bool takes_part(SessionId session, std::string_view name) const {
        const auto found = names_.find(session);
        return found != names_.end() && found->second.contains(name);
    }
    [[nodiscard]] Names of(SessionId session) const {
        const auto found = names_.find(session);
        return found == names_.end() ? Names{} : found->second;
    }
    [[nodiscard]] std::size_t count(SessionId session) const {
        const auto found = names_.find(session);
        return found == names_.end() ? 0 : found->second.size();
    }
    [[nodiscard]] const std::map<SessionId, Names>& all() const { return names_; }

private:
    std::map<SessionId, Names> names_;
};

}  // namespace mortise::core
