#include "tools/mortise/demo/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/mortise/exit_code.hpp"

namespace mortise::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t sector_bytes = 512;

// In a mount namespace of its own; whoever is not root needs a user namespace for that as well.
std::vector<std::string> words_that_bind(const fs::path& file) {
    std::vector<std::string> words{"unshare", "--mount"};
    if (::geteuid() != 0) words.insert(words.end(), {"--user", "--map-root-user"});
    const std::string script = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"";
    words.insert(words.end(), {"sh", "-c", script, file.string()});
    return words;
}

bool succeeds(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    if (::posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), ::environ) != 0)
        return false;
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

// A log is written over zeros.
std::uint64_t end_of_data(const fs::path& log) {
    std::ifstream stream{log, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
    return bytes.find_last_not_of('\0') + 1;
}

fs::path newest_log(const fs::path& data) {
    fs::path newest;
    for (const auto& entry : fs::directory_iterator{data / "log"})
        if (entry.path().extension() == ".log" && entry.path() > newest) newest = entry.path();
    return newest;
}

}  // namespace

void Machine::check_that_one_can_boot() {
    auto words = words_that_bind("/dev/null");
    words.emplace_back("true");
    if (!succeeds(std::move(words)))
        throw Failure{ExitCode::denied,
                      "no process can be shown another boot id here: this needs "
                      "root, or the right to make user namespaces"};
}

Machine::Machine(fs::path data, fs::path boot_id)
    : data_{std::move(data)}, boot_id_{std::move(boot_id)}, random_{std::random_device{}()} {
    boot();
}

void Machine::boot() {
    char text[40];
    const auto part = [this] { return static_cast<unsigned>(random_()); };
    std::snprintf(text, sizeof text, "%08x-%04x-4%03x-a%03x-%08x%04x", part(), part() & 0xffffU,
                  part() & 0xfffU, part() & 0xfffU, part(), part() & 0xffffU);
    std::ofstream{boot_id_} << text << '\n';
}

std::vector<std::string> Machine::runs() const {
    return words_that_bind(boot_id_);
}

// A record may end with zeros that count.
void Machine::note_synced() {
    log_ = newest_log(data_);
    synced_ = end_of_data(log_) + sector_bytes;
}

// If the node has begun another log since, the one before was synced; so nothing is lost.
std::uint64_t Machine::lose_power() {
    boot();
    const auto end = end_of_data(log_);
    if (newest_log(data_) != log_ || end <= synced_) return 0;
    std::fstream file{log_, std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(static_cast<std::streamoff>(synced_ + random_() % (end - synced_)));
    for (auto at = static_cast<std::uint64_t>(file.tellp()); at < end; at += sector_bytes) {
        std::string sector(std::min<std::uint64_t>(sector_bytes, end - at), '\0');
        if (random_() % 2 == 0)
            for (auto& byte : sector)
                byte = static_cast<char>(random_());
        file << sector;
    }
    return end - synced_;
}

}  // namespace mortise::cli
