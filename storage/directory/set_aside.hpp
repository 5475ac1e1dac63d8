// Moves the content of a damaged directory aside, if the cluster of its node has everything
// elsewhere. The content is kept for people. An empty directory replaces it: with its own
// incarnation, so that nothing that was said in the name of the old one is contradicted, and with
// the old cluster id, so that it does not bootstrap another cluster.
//
// "meta" records the operation before anything moves, and is replaced last: a start after a crash
// continues it.
#pragma once

#include <filesystem>

#include "storage/directory/data_directory.hpp"
#include "storage/directory/open_parts.hpp"
#include "storage/files/meta_file.hpp"

namespace mortise::storage {

// The maximum number of copies; people have to remove them.
constexpr std::size_t set_aside_max = 8;

// Returns the new place of the content. Errc::damaged if nothing in the directory names its
// cluster, or if there are too many copies already. No process may have it open.
Result<std::filesystem::path> set_aside(const std::filesystem::path& directory,
                                        const OpenOptions& options, const Seams& seams);
// Continues where `meta` says that the operation was. Returns the `meta` of the new directory.
Result<MetaFile> finish_setting_aside(const std::filesystem::path& directory, const MetaFile& meta,
                                      const OpenOptions& options, FileProbe* probe);

}  // namespace mortise::storage
