// Prevents repeated notices from filling the log: the same notice about the same subject is written
// once a minute, and the total number per minute is limited.
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
