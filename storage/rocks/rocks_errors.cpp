#include "storage/rocks/rocks_errors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "storage/rocks/own_files.hpp"
#include "storage/rocks/rocks_env.hpp"

namespace mortise::storage {

namespace {

// RocksDB's words for a file CURRENT that exists and cannot be opened.
bool is_unreadable(const rocksdb::Status& status) {
    return status.IsInvalidArgument() && !says(status, ENOENT) &&
           status.ToString().find("incompatible with filesystem") != std::string::npos;
}

bool is_over_limit(const rocksdb::Status& status) {
    return says(status, EDQUOT) || says(status, EFBIG);
}

// RocksDB makes a corruption of some of the system's errors, for example if it cannot learn the
// size of a table.
bool is_of_the_system(const rocksdb::Status& status) {
    constexpr std::array reasons{EIO,   ENOMEM, EPERM,    EROFS,     ESTALE,
                                 ENXIO, ENODEV, ENOTCONN, ETIMEDOUT, EUCLEAN};
    return std::ranges::any_of(reasons, [&](int reason) { return says(status, reason); });
}

// Damage is what no retry cures. A missing file is damage. A file that cannot be read or created at
// the moment, for lack of rights, room or memory, or because of the disk, may be accessible later.
Errc meaning_of(const rocksdb::Status& status) {
    if (is_closed(status)) return Errc::closed;
    if (is_for_want_of_room(status)) return Errc::no_space;
    if (is_for_want_of_descriptors(status)) return Errc::shortage;
    if (says(status, EACCES)) return Errc::denied;
    if (status.IsNotSupported()) return Errc::newer_format;
    if (is_unreadable(status) || is_of_the_system(status)) return Errc::io;
    const bool is_gone = status.IsPathNotFound() || status.IsNotFound();
    return status.IsCorruption() || is_gone || status.IsInvalidArgument() ? Errc::damaged
                                                                          : Errc::io;
}

}  // namespace

bool is_for_want_of_room(const rocksdb::Status& status) {
    return status.IsNoSpace() || says(status, ENOSPC) || is_over_limit(status);
}

Error to_error(const rocksdb::Status& status, const std::filesystem::path& path) {
    return make_error(meaning_of(status), path.string() + ": " + status.ToString());
}

void BackgroundErrors::OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                                         rocksdb::Status* status) {
    int none = 0;
    first_.compare_exchange_strong(none, static_cast<int>(meaning_of(*status)),
                                   std::memory_order_acq_rel);
}

Result<void> BackgroundErrors::check(const std::filesystem::path& path) const {
    const auto first = first_.load(std::memory_order_acquire);
    if (first == 0) return {};
    return make_error(static_cast<Errc>(first), path.string() + ": a background job failed");
}

}  // namespace mortise::storage
