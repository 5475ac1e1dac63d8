#include <algorithm>
#include <charconv>
#include <system_error>

#include "embed/runtime/node_runtime.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/values/one_line.hpp"
#include "storage/directory/data_directory.hpp"
#include "storage/directory/recovery.hpp"
#include <mortise/directory_errc.hpp>
#include <mortise/dump.hpp>
#include <mortise/errc.hpp>
#include <mortise/recover.hpp>

namespace mortise {

namespace {

[[noreturn]] void refuse_recovery(const std::filesystem::path& directory, const std::string& why) {
    throw std::system_error{Errc::invalid_argument, directory.string() + why};
}

std::uint64_t half_of(const std::string& cluster_id, std::size_t at) {
    constexpr std::size_t digits = 16;
    constexpr int base = 16;
    std::uint64_t half = 0;
    const auto* const begin = cluster_id.data() + at;
    std::from_chars(begin, begin + digits, half, base);
    return half;
}

// dump_directory() wrote these digits.
core::ClusterId cluster_of(const std::string& cluster_id) {
    constexpr std::size_t half = 16;
    return {half_of(cluster_id, 0), half_of(cluster_id, half)};
}

void check_recovery(const std::filesystem::path& directory, const DirectoryDump& dump,
                    const std::string& cluster_id) {
    if (!dump.damage.empty())
        throw std::system_error{
            make_error_code(dump.is_newer ? DirectoryErrc::newer_format : DirectoryErrc::damaged),
            dump.damage.front()};
    if (dump.cluster_id.empty())
        refuse_recovery(directory, " was never part of a cluster: its node can just be started");
    if (dump.cluster_id != cluster_id) {
        refuse_recovery(directory, " belongs to the cluster " + dump.cluster_id + ", not to \"" +
                                       cluster_id + '"');
    }
    const auto is_self = [&](const MemberInfo& member) { return member.id == dump.node; };
    if (std::ranges::none_of(dump.members, is_self))
        refuse_recovery(directory, ": its node is not a member of its cluster any more");
    const bool is_alone = std::ranges::none_of(dump.members, [&](const MemberInfo& member) {
        return member.id != dump.node && (member.role == Role::voter || member.leaving);
    });
    if (is_alone)
        refuse_recovery(directory, ": its node is the only voter of its cluster: start it");
}

}  // namespace

RecoveredDirectory recover_directory(const std::filesystem::path& directory,
                                     const std::string& cluster_id) {
    const auto dump = dump_directory(directory);
    check_recovery(directory, dump, cluster_id);
    const core::ClusterId next{detail::random_number(), detail::random_number()};
    const auto recovered = storage::recover_directory(directory, cluster_of(cluster_id), next);
    if (!recovered) throw detail::in_one_line(recovered.error());
    return {dump.node,
            detail::to_text(next),
            cluster_id,
            recovered->last.index.raw(),
            detail::from_core(recovered->newest_token),
            recovered->copy};
}

}  // namespace mortise
