// The file operations of storage itself, besides RocksDB's. Tests can make each step fail.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/descriptors.hpp"
#include "storage/base/errors.hpp"

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

// Lets a test act between storage and the system.
class FileProbe {
public:
    virtual ~FileProbe() = default;
    // If not zero, the step is skipped and fails with this errno.
    virtual int before(FileStep step, const std::filesystem::path& path) = 0;
    virtual void after(FileStep step, const std::filesystem::path& path) = 0;
};

// An open file, which is closed with the object. New files have mode 0600, and no file is inherited
// by other programs. What root creates belongs to the owner of its directory, so that a service
// finds nothing that it may not open (docs/decisions/0072). If the process has closed its
// descriptor, everything fails with Errc::closed, and the number is not closed again, because
// another file may have it.
class File {
public:
    // `flags` as for open(2). A symbolic link at the end of the path is refused.
    static Result<File> open(const std::filesystem::path& path, int flags, FileProbe* probe);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    [[nodiscard]] Result<std::uint64_t> size() const;
    // False if the process has closed it.
    [[nodiscard]] bool is_ours() const noexcept { return identity_.is_at(descriptor_); }

    // The whole content, at most `bytes_max`.
    Result<std::string> read(std::size_t bytes_max) const;
    Result<void> write_at(std::uint64_t offset, std::string_view bytes);
    // Sets the size and allocates the space on the disk.
    Result<void> allocate(std::uint64_t bytes);
    Result<void> truncate(std::uint64_t bytes);
    Result<void> sync();
    // Syncs the metadata as well; for directories.
    Result<void> sync_all();
    // Returns the number of bytes read.
    Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t bytes) const;

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    File(std::filesystem::path path, int descriptor, FileProbe* probe);
    [[nodiscard]] Result<void> check() const;

    std::filesystem::path path_;  // as it was opened
    int descriptor_ = -1;         // -1: another object has the file
    FileProbe* probe_ = nullptr;  // null outside of tests
    OpenFile identity_;           // what the number referred to when the file was opened
};

enum class Durable : bool { no, yes };

// Empty if there is no such file.
Result<std::optional<std::string>> read_file(const std::filesystem::path& path,
                                             std::size_t bytes_max, FileProbe* probe);
// After a crash the file has the old content or the new one, never a mixture; also after a loss of
// power, if `durable`.
Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes,
                          Durable durable, FileProbe* probe);
// Creates it for the owner of its parent alone, with missing parents; an existing directory is
// fine. Its name is durable afterwards.
Result<void> make_directory(const std::filesystem::path& path, FileProbe* probe);
// Moves a file or a directory; replaces a file of that name.
Result<void> move(const std::filesystem::path& from, const std::filesystem::path& to,
                  FileProbe* probe);
// A missing file is not an error.
Result<void> remove_file(const std::filesystem::path& path, FileProbe* probe);
// Makes names that were added or replaced durable.
Result<void> sync_directory(const std::filesystem::path& path, FileProbe* probe);

}  // namespace mortise::storage
