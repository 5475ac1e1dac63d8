// A damaged directory of a member whose cluster has everything elsewhere. What is in it is put
// aside, for people, and an empty directory takes its place: with an incarnation of its own, so
// that nothing that was said in the name of the old one is ever contradicted, and with the cluster
// to which it belonged, so that it founds no other.
//
// "meta" says that this goes on before anything moves, and is replaced last: a start after a crash
// goes on with it.
#pragma once

#include <filesystem>

#include "storage/data_directory.hpp"
#include "storage/meta_file.hpp"
#include "storage/open_parts.hpp"

namespace mortise::storage {

// So many copies are kept beside each other; removing them is for people.
constexpr std::size_t set_aside_max = 8;

// Where the content is then. Errc::damaged when nothing in there says which cluster it was, or when
// there are too many copies already. Nobody has it open.
Result<std::filesystem::path> set_aside(const std::filesystem::path& directory,
                                        const OpenOptions& options, const Seams& seams);
// From where `meta` says that it was. Answers the one of the new directory.
Result<MetaFile> finish_setting_aside(const std::filesystem::path& directory, const MetaFile& meta,
                                      const OpenOptions& options, FileProbe* probe);

}  // namespace mortise::storage
