// Measures how long the disk takes for what every grant waits for.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "tools/mortise/doctor/checks.hpp"

namespace mortise::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr const char* about_disk = "disk";
constexpr std::size_t append_bytes = 512;

fs::path nearest_existing(fs::path path) {
    std::error_code failed;
    path = fs::absolute(path, failed).lexically_normal();
    while (!fs::is_directory(path, failed) && path.has_relative_path())
        path = path.parent_path();
    return path;
}

// It never gets a name, or loses it at once, so nothing is left if this process is killed.
class UnnamedFile {
public:
    explicit UnnamedFile(const fs::path& directory)
        : file_{::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)} {
        if (file_ >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return;
        auto name = (directory / ".mortise-doctor-XXXXXX").string();
        file_ = ::mkostemp(name.data(), O_CLOEXEC);
        if (file_ >= 0) ::unlink(name.c_str());
    }
    ~UnnamedFile() {
        if (file_ >= 0) ::close(file_);
    }
    UnnamedFile(const UnnamedFile&) = delete;
    UnnamedFile& operator=(const UnnamedFile&) = delete;

    [[nodiscard]] int get() const { return file_; }

private:
    int file_;
};

// Empty, with errno, if a write or a sync fails.
std::vector<nanoseconds> measure(int file, std::chrono::milliseconds length) {
    const std::array<char, append_bytes> bytes{};
    std::vector<nanoseconds> took;
    const auto end = Clock::now() + length;
    while (took.empty() || Clock::now() < end) {
        const auto begin = Clock::now();
        if (::write(file, bytes.data(), bytes.size()) != std::ssize(bytes)) return {};
        if (::fdatasync(file) != 0) return {};
        took.push_back(Clock::now() - begin);
    }
    return took;
}

DiskSpeed speed_of(std::vector<nanoseconds> took) {
    std::ranges::sort(took);
    constexpr std::size_t percent = 100;
    const auto last = took.size() - 1;
    return {took[last / 2], took[last * 99 / percent], took[last], took.size()};
}

std::string in_ms(nanoseconds time) {
    std::array<char, 32> text{};
    const auto ms = std::chrono::duration<double, std::milli>{time}.count();
    std::snprintf(text.data(), text.size(), ms < 10 ? "%.2f ms" : "%.0f ms", ms);
    return text.data();
}

}  // namespace

Finding judge_disk(const DiskSpeed& speed, const TimingConfig& timing) {
    const auto text = "an append with fdatasync takes " + in_ms(speed.median) + " (median), " +
                      in_ms(speed.p99) + " (99 %), " + in_ms(speed.longest) + " at most, in " +
                      std::to_string(speed.writes) + " writes";
    const auto faster = "use another disk, or one that fewer programs write to";
    if (speed.median >= timing.election_timeout.to_nanoseconds()) {
        return problem(about_disk,
                       text + ": longer than timing.election_timeout (" +
                           to_string(timing.election_timeout) + "), so no leader stays",
                       std::string{faster} + ", or raise timing.election_timeout");
    }
    if (speed.p99 >= timing.heartbeat.to_nanoseconds() ||
        speed.longest >= timing.election_timeout.to_nanoseconds()) {
        return warning(about_disk,
                       text + ": now and then longer than timing.heartbeat (" +
                           to_string(timing.heartbeat) + "), so leaders may change",
                       std::string{faster} + ", or raise the times below [timing] on all members");
    }
    return fine(about_disk, text);
}

Findings check_disk(const Config& config, std::chrono::milliseconds length) {
    const auto directory = nearest_existing(config.data_dir);
    const UnnamedFile file{directory};
    std::vector<nanoseconds> took;
    if (file.get() >= 0) took = measure(file.get(), length);
    if (!took.empty()) return {judge_disk(speed_of(std::move(took)), config.timing)};
    return {problem(
        about_disk,
        "cannot write to " + directory.string() + ": " + std::generic_category().message(errno),
        "give the user of the node the right to write there, and space")};
}

}  // namespace mortise::cli
