#include "transport/network/notice_limit.hpp"

#include <chrono>

namespace mortise::transport {
namespace {

constexpr core::Nanoseconds silence = std::chrono::minutes{1};
constexpr std::size_t notices_max = 16;

}  // namespace

bool NoticeLimit::may_say(const std::string& who, const std::string& what, core::Instant now) {
    std::erase_if(said_, [&](const auto& each) { return now - each.second >= silence; });
    if (said_.size() >= notices_max) return false;
    return said_.emplace(std::pair{who, what}, now).second;
}

}  // namespace mortise::transport
