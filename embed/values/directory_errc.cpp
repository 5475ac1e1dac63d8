#include "storage/base/errors.hpp"
#include <mortise/directory_errc.hpp>

namespace mortise {

namespace {

constexpr bool is_same(DirectoryErrc ours, storage::Errc theirs) {
    return static_cast<int>(ours) == static_cast<int>(theirs);
}

static_assert(is_same(DirectoryErrc::locked, storage::Errc::locked));
static_assert(is_same(DirectoryErrc::damaged, storage::Errc::damaged));
static_assert(is_same(DirectoryErrc::newer_format, storage::Errc::newer_format));
static_assert(is_same(DirectoryErrc::wrong_node, storage::Errc::wrong_node));
static_assert(is_same(DirectoryErrc::io, storage::Errc::io));
static_assert(is_same(DirectoryErrc::no_space, storage::Errc::no_space));
static_assert(is_same(DirectoryErrc::shortage, storage::Errc::shortage));
static_assert(is_same(DirectoryErrc::closed, storage::Errc::closed));
static_assert(is_same(DirectoryErrc::denied, storage::Errc::denied));
static_assert(is_same(DirectoryErrc::not_a_directory, storage::Errc::not_a_directory));

}  // namespace

const std::error_category& directory_category() noexcept {
    return storage::error_category();
}

}  // namespace mortise
