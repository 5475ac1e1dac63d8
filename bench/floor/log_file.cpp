#include "bench/floor/log_file.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "bench/measure/durability.hpp"

namespace mortise::bench {

LogFile::LogFile(const std::filesystem::path& path)
    : file_{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600)},
      syncs_{!is_replicated()} {
    if (file_ < 0) throw std::system_error{errno, std::system_category(), path.string()};
}

LogFile::~LogFile() {
    ::close(file_);
}

void LogFile::append_durably(std::span<const char> bytes) {
    while (!bytes.empty()) {
        const auto wrote = ::write(file_, bytes.data(), bytes.size());
        if (wrote < 0) throw std::system_error{errno, std::system_category(), "write"};
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    if (syncs_ && ::fdatasync(file_) != 0)
        throw std::system_error{errno, std::system_category(), "sync"};
}

}  // namespace mortise::bench
