#include "core/locks/origin.hpp"

namespace mortise::core {

namespace {

void tidy(std::string& text, std::size_t bytes_max) {
    if (text.size() > bytes_max) text.resize(bytes_max);
    for (auto& byte : text) {
        const auto code = static_cast<unsigned char>(byte);
        if (code < 0x20U || code == 0x7fU) byte = '?';
    }
}

}  // namespace

Origin tidied(Origin origin) {
    tidy(origin.host, origin_host_bytes_max);
    tidy(origin.program, origin_program_bytes_max);
    tidy(origin.address, origin_address_bytes_max);
    return origin;
}

std::string default_label(const Origin& origin) {
    auto label = origin.program;
    if (!origin.host.empty()) label += "@" + origin.host;
    if (origin.pid != 0) label += ":" + std::to_string(origin.pid);
    return label;
}

}  // namespace mortise::core
