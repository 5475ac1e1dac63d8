// What storage does to files by itself, besides RocksDB: small, few, and each step can be made to
// fail.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "storage/descriptors.hpp"
#include "storage/errors.hpp"

namespace mortise::storage {

enum class FileStep : std::uint8_t {
    open,
    read,
    write,
    allocate,
    sync,
    rename,
    remove,
    sync_directory,
};

// A test's hand between storage and the system.
class FileProbe {
public:
    virtual ~FileProbe() = default;
    // Not zero: the step is not taken and fails with this errno.
    virtual int before(FileStep step, const std::filesystem::path& path) = 0;
    virtual void after(FileStep step, const std::filesystem::path& path) = 0;
};

// An open file; closed with the object. Made 0600, and not inherited by other programs. When the
// process closed its descriptor everything fails with Errc::closed, and nothing is closed again:
// the number may be that of another file.
class File {
public:
    // `flags` as for open(2). A symbolic link in the last place is refused.
    static Result<File> open(const std::filesystem::path& path, int flags, FileProbe* probe);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    [[nodiscard]] Result<std::uint64_t> size() const;
    // False when the process closed it.
    [[nodiscard]] bool is_ours() const noexcept { return identity_.is_at(descriptor_); }

    // All there is, at most `bytes_max`.
    Result<std::string> read(std::size_t bytes_max) const;
    Result<void> write_at(std::uint64_t offset, std::string_view bytes);
    // Makes it so long, with room on the disk for all of it.
    Result<void> allocate(std::uint64_t bytes);
    Result<void> truncate(std::uint64_t bytes);
    Result<void> sync();
    // With all that is known of it; for directories.
    Result<void> sync_all();
    // Answers how much there was.
    Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t bytes) const;

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    File(std::filesystem::path path, int descriptor, FileProbe* probe);
    [[nodiscard]] Result<void> check() const;

    std::filesystem::path path_;
    int descriptor_ = -1;
    FileProbe* probe_ = nullptr;
    OpenFile identity_;
};

enum class Durable : bool { no, yes };

// Empty when there is no such file.
Result<std::optional<std::string>> read_file(const std::filesystem::path& path,
                                             std::size_t bytes_max, FileProbe* probe);
// The old content or the new, never a mixture: when durable, also after a loss of power.
Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes,
                          Durable durable, FileProbe* probe);
// For its owner alone, with the parents that are missing; that there is one already is well. Its
// name is durable then, too.
Result<void> make_directory(const std::filesystem::path& path, FileProbe* probe);
// A file or a directory, in place of a file that has the name.
Result<void> move(const std::filesystem::path& from, const std::filesystem::path& to,
                  FileProbe* probe);
// That there is none is well.
Result<void> remove_file(const std::filesystem::path& path, FileProbe* probe);
// Makes names that were added or replaced durable.
Result<void> sync_directory(const std::filesystem::path& path, FileProbe* probe);

}  // namespace mortise::storage
