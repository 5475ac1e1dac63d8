#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace mortise::transport {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
using Log = std::function<void(LogLevel, std::string)>;

}  // namespace mortise::transport
