#include "tools/mortise/port_owner.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include "tools/mortise/exit_code.hpp"

namespace mortise::cli {

namespace {

namespace fs = std::filesystem;

std::optional<unsigned long> number_in(const std::string& text, int base) {
    unsigned long number = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number, base);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return number;
}

// The inodes of the sockets that listen on the port. A line of the table is
// "sl local:PORT remote:PORT STATE tx:rx tr:when retrnsmt uid timeout inode ...".
void add_listening(const char* table, std::uint16_t port, std::set<std::string>& inodes) {
    constexpr const char* listening = "0A";
    std::ifstream file{table};
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words{line};
        std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
        words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
            timeout >> inode;
        const auto colon = local.rfind(':');
        if (state != listening || colon == std::string::npos) continue;
        if (number_in(local.substr(colon + 1), 16) == port) inodes.insert("socket:[" + inode + "]");
    }
}

bool has_one_of(const fs::path& process, const std::set<std::string>& sockets) {
    std::error_code failed;
    for (fs::directory_iterator each{process / "fd", failed}, end; !failed && each != end;
         each.increment(failed)) {
        std::error_code gone;
        if (sockets.contains(fs::read_symlink(each->path(), gone).string())) return true;
    }
    return false;
}

std::string name_of(const fs::path& process) {
    std::string name;
    std::ifstream file{process / "comm"};
    std::getline(file, name);
    return name;
}

}  // namespace

std::string PortOwner::to_string() const {
    return "process " + std::to_string(process) + (program.empty() ? "" : " (" + program + ")");
}

std::uint16_t port_of(const std::string& address) {
    const auto port = number_in(address.substr(address.rfind(':') + 1), 10);
    return static_cast<std::uint16_t>(port.value_or(0));
}

std::optional<PortOwner> owner_of_port(std::uint16_t port) {
    std::set<std::string> sockets;
    add_listening("/proc/net/tcp", port, sockets);
    add_listening("/proc/net/tcp6", port, sockets);
    if (sockets.empty()) return std::nullopt;
    std::error_code failed;
    for (fs::directory_iterator each{"/proc", failed}, end; !failed && each != end;
         each.increment(failed)) {
        const auto process = number_in(each->path().filename().string(), 10);
        if (process && has_one_of(each->path(), sockets))
            return PortOwner{static_cast<pid_t>(*process), name_of(each->path())};
    }
    return std::nullopt;
}

Node open_node(const Config& config) {
    try {
        return Node{config};
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::address_in_use) throw;
        const auto owner = owner_of_port(port_of(config.listen));
        throw Failure{ExitCode::taken, line_of(error) +
                                           (owner ? ", by " + owner->to_string() : "") +
                                           ": end that process, or give this node another port"};
    }
}

}  // namespace mortise::cli
