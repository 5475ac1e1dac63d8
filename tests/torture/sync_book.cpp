// What of the log and of `meta` of this process's node is certainly on disk, in a file that
// outlives the process: power.py damages the rest when the machine loses its power. The library
// writes and syncs files with the calls below and no others. SYNC_BOOK names the file; without it
// they only make the calls of the system.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr std::size_t logs_max = 4096;
constexpr std::size_t meta_bytes = 16384;

// power.py reads these.
struct Log {
    std::atomic<std::uint64_t> inode;
    std::atomic<std::uint64_t> written;  // the end of its data, which zeros follow
    std::atomic<std::uint64_t> synced;   // up to where it is on disk
};
struct Book {
    std::array<char, meta_bytes> meta;  // its content at its last sync; zeros before the first one
    std::array<Log, logs_max> logs;     // until one without an inode
};

enum class Kind : std::uint8_t { other, log, meta };

Book* open_book() {
    const char* path = std::getenv("SYNC_BOOK");
    if (path == nullptr) return nullptr;
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    void* const memory = ::mmap(nullptr, sizeof(Book), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) std::abort();
    ::close(file);
    return static_cast<Book*>(memory);
}

Book* book() {
    static Book* const opened = open_book();
    return opened;
}

Kind kind_of(int descriptor) {
    std::array<char, 512> path{};
    const auto link = "/proc/self/fd/" + std::to_string(descriptor);
    const auto size = ::readlink(link.c_str(), path.data(), path.size());
    const std::string_view name{path.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    if (name.find("/log/") != name.npos && name.ends_with(".log")) return Kind::log;
    return name.ends_with("/meta") ? Kind::meta : Kind::other;
}

std::uint64_t inode_of(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 ? about.st_ino : 0;
}

// Empty if the file is not in the book, unless it is to be entered.
Log* log_of(int descriptor, bool enters) {
    static std::mutex mutex;
    const auto inode = inode_of(descriptor);
    const std::scoped_lock lock{mutex};
    for (auto& log : book()->logs) {
        if (log.inode == inode) return &log;
        if (log.inode != 0) continue;
        if (enters) log.inode = inode;
        return enters ? &log : nullptr;
    }
    std::abort();
}

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
    auto before = value.load();
    while (before < to && !value.compare_exchange_weak(before, to)) {
    }
}

// The zeros that are written ahead of data are no data.
bool has_data(const char* bytes, std::size_t size) {
    return size < 4096 || std::any_of(bytes, bytes + size, [](char each) { return each != 0; });
}

int sync(int descriptor, long call) {
    const auto kind = book() != nullptr ? kind_of(descriptor) : Kind::other;
    std::array<char, meta_bytes> meta{};
    if (kind == Kind::meta && ::pread(descriptor, meta.data(), meta.size(), 0) < 0) std::abort();
    Log* const log = kind == Kind::log ? log_of(descriptor, false) : nullptr;
    const auto end = log != nullptr ? log->written.load() : 0;
    const auto result = static_cast<int>(::syscall(call, descriptor));
    if (result != 0) return result;
    if (log != nullptr) raise(log->synced, end);
    if (kind == Kind::meta) book()->meta = meta;
    return result;
}

}  // namespace

extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t at) {
    if (book() != nullptr && kind_of(descriptor) == Kind::log &&
        has_data(static_cast<const char*>(bytes), size)) {
        auto& log = *log_of(descriptor, true);
        if (at == 0) log.written = log.synced = 0;  // the inode was used before
        raise(log.written, static_cast<std::uint64_t>(at) + size);
    }
    return ::syscall(SYS_pwrite64, descriptor, bytes, size, at);
}

int fdatasync(int descriptor) {
    return sync(descriptor, SYS_fdatasync);
}

int fsync(int descriptor) {
    return sync(descriptor, SYS_fsync);
}

}  // extern "C"
