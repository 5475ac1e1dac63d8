#include <algorithm>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/codec/state_sum_codec.hpp"
#include "embed/offline/entry_words.hpp"
#include "embed/runtime/translate.hpp"
#include "storage/directory/directory_reader.hpp"
#include <mortise/dump.hpp>
#include <mortise/escaped.hpp>

namespace mortise {

namespace {

using storage::DirectoryContent;

// The newest configuration in the log, or its base.
core::Configuration configuration_of(const DirectoryContent& content) {
    for (auto entry = content.entries.rbegin(); entry != content.entries.rend(); ++entry) {
        if (entry->kind != core::EntryKind::configuration) continue;
        if (auto found = core::decode_configuration(entry->payload)) return *std::move(found);
    }
    return content.base_configuration.is_formed() ? content.base_configuration
                                                  : content.applied_configuration;
}

// Ordered by id. An id with two entries has the order voter, leaving, learner.
std::vector<MemberInfo> members_of(const core::Configuration& configuration) {
    std::multimap<NodeId, MemberInfo> members;
    const auto add = [&members](const std::vector<core::Member>& list, Role role, bool leaving) {
        for (const auto& member : list) {
            MemberInfo info;
            info.id = member.id.raw();
            info.role = role;
            info.address = member.address;
            info.leaving = leaving;
            info.incarnation = member.incarnation.raw();
            members.emplace(info.id, info);
        }
    };
    add(configuration.voters, Role::voter, false);
    std::vector<core::Member> leaving;
    for (const auto& member : configuration.outgoing)
        if (std::ranges::find(configuration.voters, member) == configuration.voters.end())
            leaving.push_back(member);
    add(leaving, Role::voter, true);
    add(configuration.learners, Role::learner, false);
    std::vector<MemberInfo> list;
    for (auto& [id, info] : members)
        list.push_back(std::move(info));
    return list;
}

// The leader logs a checksum of what it had applied, so everything up to there was committed.
// Entries of a cluster with one voter are committed, too.
core::LogIndex committed_in(const DirectoryContent& content) {
    auto committed = std::max(content.applied.index, content.base.index);
    for (const auto& entry : content.entries) {
        if (entry.kind != core::EntryKind::state_sum) continue;
        if (const auto sum = core::decode_state_sum(entry.payload))
            committed = std::max(committed, sum->at);
    }
    const auto configuration = configuration_of(content);
    const bool is_alone = configuration.voters.size() == 1 && !configuration.is_joint() &&
                          configuration.voters.front().incarnation == content.incarnation;
    if (is_alone && !content.entries.empty()) committed = content.entries.back().id.index;
    return committed;
}

const char* word_of(core::Unsynced mark) {
    switch (mark) {
        case core::Unsynced::nothing: return "nothing";
        case core::Unsynced::entries: return "entries";
        case core::Unsynced::forgotten: return "forgotten";
    }
    return "";
}

class Dump {
public:
    Dump(DirectoryContent content, const DumpOptions& options)
        : content_{std::move(content)}, options_{options} {}

    DirectoryDump run() {
        tell_whose();
        tell_log();
        dump_.members = members_of(configuration_of(content_));
        if (content_.machine) tell_locks();
        if (options_.entries) tell_entries();
        return std::move(dump_);
    }

private:
    void tell_whose() {
        dump_.node = content_.node.raw();
        dump_.incarnation = content_.incarnation.raw();
        dump_.boot_epoch = content_.boot_epoch.raw();
        dump_.cluster_id = detail::to_text(content_.cluster);
        dump_.term = content_.hard_state.term.raw();
        if (content_.hard_state.voted_for.is_set())
            dump_.voted_for = content_.hard_state.voted_for.raw();
        if (content_.node.is_set()) dump_.unsynced = word_of(content_.unsynced);
        dump_.synced_index = content_.synced.raw();
        for (const auto& error : content_.damage) {
            dump_.damage.push_back(error.what);
            dump_.is_newer = dump_.is_newer || error.code == storage::Errc::newer_format;
        }
        if (content_.is_torn)
            note("the newest write of the log was cut short by a crash; it was not acknowledged");
        if (content_.lost_power)
            note(
                "its machine was started anew, or another one has it: the newest entries that it "
                "acknowledged may be lost, and a start has to recover from a leader");
        if (content_.is_copy)
            note("this is a copy, or was restored: it is not where its node had it last");
        if (content_.set_aside != 0)
            note("a start had begun to move the content aside, into damaged-" +
                 std::to_string(content_.set_aside));
    }
    void tell_log() {
        const auto& entries = content_.entries;
        dump_.first_index = content_.base.index.next().raw();
        dump_.last_index =
            entries.empty() ? content_.base.index.raw() : entries.back().id.index.raw();
        dump_.last_term = entries.empty() ? content_.base.term.raw() : entries.back().id.term.raw();
        dump_.applied_index = content_.applied.index.raw();
        dump_.committed_index = committed_in(content_).raw();
    }
    void note(std::string what) { dump_.notes.push_back(std::move(what)); }

    void tell_locks() {
        if (options_.at && *options_.at < content_.applied.index.raw()) {
            note("the state on disk is that of index " + std::to_string(dump_.applied_index) +
                 " already: what was before it is not known");
        }
        auto& machine = *content_.machine;
        dump_.locks_index = replay(machine).raw();
        dump_.newest_token = detail::from_core(machine.table().newest_token());
        tell_sessions(machine);
        std::string after;
        while (true) {
            const auto page = machine.list({}, after, detail::list_page_max);
            for (const auto& view : page)
                dump_.locks.push_back(detail::from_core(machine.inspect(view.name)));
            if (page.empty()) return;
            after = page.back().name;
        }
    }
    // Applies entries as a node does once they are committed, and returns the last index it
    // reached.
    core::LogIndex replay(core::LockMachine& machine) {
        auto applied = content_.applied.index;
        const auto at = std::ranges::find(content_.entries, applied,
                                          [](const auto& entry) { return entry.id.index; });
        const bool is_another = at != content_.entries.end() && at->id != content_.applied;
        if (is_another) return applied;
        for (const auto& entry : content_.entries) {
            if (entry.id.index <= applied) continue;
            if (options_.at && entry.id.index.raw() > *options_.at) break;
            if (entry.id.index != applied.next() || !apply(machine, entry)) {
                note("the locks are those of index " + std::to_string(applied.raw()) +
                     ": the entry behind it cannot be read");
                break;
            }
            applied = entry.id.index;
        }
        return applied;
    }
    bool apply(core::LockMachine& machine, const core::Entry& entry) {
        const bool begins_era = entry.kind == core::EntryKind::era;
        if (!begins_era && !core::has_commands(entry.kind)) return true;
        const auto batch =
            begins_era ? std::vector<core::Command>{} : core::decode_batch(entry.payload);
        // Commands in a known format that cannot be decoded are skipped by all nodes.
        if (!batch) return core::format_of(entry.payload) <= core::command_format_newest;
        try {
            core::Outcomes outcomes;
            if (begins_era) machine.begin_era(entry.id.index, outcomes);
            if (!begins_era) machine.apply(entry.id.index, *batch, outcomes);
            return true;
        } catch (const std::exception& failed) {
            dump_.damage.push_back("entry " + std::to_string(entry.id.index.raw()) +
                                   " does not fit the state: " + failed.what());
            return false;
        }
    }
    void tell_sessions(const core::LockMachine& machine) {
        for (const auto& [id, session] : machine.sessions().all()) {
            StoredSession told;
            told.id = id.raw();
            told.node = session.opened.node.raw();
            told.incarnation = session.opened.generation.incarnation.raw();
            told.boot_epoch = session.opened.generation.boot_epoch.raw();
            told.ttl = std::chrono::milliseconds{session.opened.ttl_ms};
            told.renewed_at = session.renewed_at.raw();
            for (const auto& [seq, operation] : session.operations)
                ++(operation.held() ? told.holds : told.waits);
            dump_.sessions.push_back(told);
        }
    }
    void tell_entries() {
        for (const auto& entry : content_.entries) {
            dump_.entries.push_back({entry.id.index.raw(), entry.id.term.raw(),
                                     std::string{detail::word_of(entry.kind)},
                                     detail::words_of(entry)});
        }
    }

    DirectoryContent content_;
    const DumpOptions& options_;
    DirectoryDump dump_;
};

}  // namespace

DirectoryDump dump_directory(const std::filesystem::path& directory, const DumpOptions& options) {
    auto content = storage::read_directory(directory);
    if (!content) {
        const bool is_in_use = content.error().code == storage::Errc::locked;
        const std::string advice = is_in_use ? "; stop it, or ask it: mortise locks" : "";
        throw std::system_error{content.error().code, content.error().what + advice};
    }
    return Dump{*std::move(content), options}.run();
}

}  // namespace mortise
