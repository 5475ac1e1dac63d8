// Keeps whoever is talked about from filling the log: the same is said of the same one once a
// minute, and there is a bound on all that is said in a minute.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/base/instant.hpp"

namespace mortise::transport {

class NoticeLimit {
public:
    [[nodiscard]] bool may_say(const std::string& who, const std::string& what, core::Instant now);

private:
    std::map<std::pair<std::string, std::string>, core::Instant> said_;
};

}  // namespace mortise::transport
