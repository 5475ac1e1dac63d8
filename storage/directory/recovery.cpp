#include "storage/directory/recovery.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/rows/row_key.hpp"
#include "core/locks/rows/totals_row.hpp"
#include "core/raft/bounds.hpp"
#include "storage/base/own_thread.hpp"
#include "storage/directory/directory_copy.hpp"
#include "storage/files/directory_lock.hpp"
#include "storage/files/meta_file.hpp"

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t rows_at_once = 1'024;
constexpr core::Term first_term{1};

core::Configuration newest_configuration(const core::RaftState& raft) {
    for (auto entry = raft.entries.rbegin(); entry != raft.entries.rend(); ++entry) {
        if (entry->kind != core::EntryKind::configuration) continue;
        if (auto found = core::decode_configuration(entry->payload)) return *std::move(found);
    }
    return raft.configuration;
}

core::LogId last_of(const core::RaftState& raft) {
    return raft.entries.empty() ? raft.base : raft.entries.back().id;
}

bool is_alone(const core::Configuration& configuration, core::NodeId self) {
    return !configuration.is_joint() && configuration.voters.size() == 1 &&
           configuration.voters.front().id == self;
}

// What the lost members acknowledged cannot be told from what they did not: the last entry of this
// log counts.
Result<void> replay(core::NodeState& state) {
    for (const auto& entry : state.raft.entries) {
        const bool begins_era = entry.kind == core::EntryKind::era;
        const bool is_applied = begins_era || core::has_commands(entry.kind);
        if (entry.id.index <= state.raft.applied || !is_applied) continue;
        const auto batch =
            begins_era ? std::vector<core::Command>{} : core::decode_batch(entry.payload);
        if (!batch && core::format_of(entry.payload) > core::command_format_newest)
            return make_error(Errc::newer_format, "the log has an entry of a later version");
        if (!batch) continue;  // skipped by all nodes
        try {
            core::Outcomes outcomes;
            if (begins_era) state.machine.begin_era(entry.id.index, outcomes);
            if (!begins_era) state.machine.apply(entry.id.index, *batch, outcomes);
        } catch (const std::exception& failed) {
            return make_error(Errc::damaged,
                              std::string{"the log does not fit the state: "} + failed.what());
        }
    }
    return {};
}

// Raises what the lost members may have used: tokens, and the ids of sessions and closures.
Result<core::FencingToken> raise_numbers(std::vector<core::Row>& rows) {
    constexpr std::uint64_t token_max = std::uint64_t{1} << 62U;
    const auto row = std::ranges::find(rows, core::row_key(core::RowKind::totals), &core::Row::key);
    auto totals = row == rows.end() ? std::nullopt : core::decode_totals(*row->value);
    if (!totals) return make_error(Errc::damaged, "the state has no totals");
    if (totals->newest_token.raw() >= token_max)
        return make_error(Errc::io, "its tokens cannot be raised any more");
    totals->newest_token = core::FencingToken{totals->newest_token.raw() + tokens_raised_by};
    totals->newest_session = core::SessionId{totals->newest_session.raw() + tokens_raised_by};
    totals->newest_closure = core::ClosureId{totals->newest_closure.raw() + tokens_raised_by};
    row->value = core::encode_totals(*totals);
    return totals->newest_token;
}

Result<void> install(StateStore& store, const core::LogId& last,
                     const core::Configuration& configuration, std::span<const core::Row> rows) {
    if (auto begun = store.begin_install(last, configuration); !begun) return begun;
    while (!rows.empty()) {
        const auto some = rows.first(std::min(rows.size(), rows_at_once));
        if (auto done = store.install(some); !done) return done;
        rows = rows.subspan(some.size());
    }
    return store.finish_install();
}

class Recovery {
public:
    Recovery(fs::path path, core::ClusterId former, core::ClusterId next, const Seams& seams)
        : path_{std::move(path)}, former_{former}, next_{next}, seams_{seams} {}

    Result<Recovered> run() {
        auto result = examine();
        if (result) result = copy();
        if (result) result = change();
        if (result) result = examine_again();
        if (!result) return std::move(result).error();
        return std::move(recovered_);
    }

private:
    // No run of the node begins: the next start has to compare itself with the last run.
    Result<Opened> open() {
        OpenOptions options;
        options.self = self_;
        options.create = false;
        options.is_offline = true;
        return open_directory(path_, options, seams_);
    }
    Error refused(Errc code, const std::string& why) {
        return make_error(code, path_.string() + why);
    }

    // Adds what to do to an error about somebody's files.
    static Result<void> told(Result<void> checked, const std::string& advice) {
        if (checked || checked.error().code != Errc::denied) return checked;
        return make_error(Errc::denied, checked.error().what + advice);
    }

    // Before the copy, so that a mistake changes nothing.
    Result<void> examine() {
        auto meta = MetaFile::read(path_ / "meta", seams_.probe);
        if (!meta) return std::move(meta).error();
        if (meta->set_aside != 0)
            return refused(Errc::damaged, " is being moved aside: start its node once");
        self_ = meta->node;
        if (meta->cluster != former_)
            return refused(Errc::wrong_node, " belongs to another cluster");
        return told(check_owners(path_, path_),
                    ": give that user all of the directory (chown -R); nothing was changed");
    }

    Result<void> copy() {
        const auto kept_out = DirectoryLock::keep_out(path_, seams_.probe);
        if (!kept_out) return kept_out.error();
        auto copied = copy_directory(path_, seams_.probe);
        if (!copied) {
            return told(std::move(copied).error(),
                        ": do this as the user of the node, or as root where root may give files "
                        "away; nothing was changed");
        }
        recovered_.copy = *std::move(copied);
        return {};
    }

    Result<void> change() {
        auto opened = open();
        if (!opened) return std::move(opened).error();
        const auto before = newest_configuration(opened->state.raft);
        const auto* const member = before.find(self_);
        if (!before.is_formed() || member == nullptr)
            return refused(Errc::io, " is that of a node that is no member of its cluster");
        if (is_alone(before, self_))
            return refused(Errc::io, " is that of the only voter of its cluster: start its node");
        auto after = core::Configuration{next_, {*member}, {}, {}, {}};
        after.voters.front().incarnation = opened->generation.incarnation;
        return write(*opened, after);
    }

    // The new state is in force as soon as its install is finished. A start after that completes
    // the rest. No term of the former cluster means anything in the new one, so the terms begin
    // anew: they may have been used up. No saved countdown may count for a session that the lost
    // members have perhaps renewed since.
    Result<void> write(Opened& opened, const core::Configuration& after) {
        if (auto replayed = replay(opened.state); !replayed) return replayed;
        auto rows = opened.state.machine.all_rows();
        auto token = raise_numbers(rows);
        if (!token) return std::move(token).error();
        const auto last = last_of(opened.state.raft);
        recovered_.last = {first_term, core::LogIndex{last.index.raw() + indexes_raised_by}};
        recovered_.newest_token = *token;
        if (!core::is_in_bounds(recovered_.last))
            return refused(Errc::io, ": its indexes cannot be raised any more");
        if (auto none = opened.state_store->save_countdowns({}); !none) return none;
        if (auto done = install(*opened.state_store, recovered_.last, after, rows); !done)
            return done;
        core::Write reset;
        reset.reset = LogBase{recovered_.last, after};
        reset.hard_state = core::HardState{first_term, {}};
        // Nobody is left to whom it could break a promise.
        reset.unsynced = core::Unsynced::nothing;
        return opened.log->write({&reset, 1});
    }

    // What a start would find.
    Result<void> examine_again() {
        const auto opened = open();
        if (!opened) return opened.error();
        const auto found = newest_configuration(opened->state.raft);
        if (found.cluster != next_ || !is_alone(found, self_))
            return refused(Errc::damaged, ": the recovered state cannot be found on the disk");
        return told(check_owners(path_, path_),
                    ": it is recovered, but give that user all of the directory (chown -R)");
    }

    fs::path path_;  // in normal form, without a slash at the end
    core::ClusterId former_;
    core::ClusterId next_;
    const Seams& seams_;
    core::NodeId self_;    // by examine(), which reads it in `meta`
    Recovered recovered_;  // the copy is set by copy(), the rest by write()
};

}  // namespace

Result<Recovered> recover_directory(const fs::path& path, core::ClusterId former,
                                    core::ClusterId next, const Seams& seams) {
    auto normal = path.lexically_normal();
    if (!normal.has_filename()) normal = normal.parent_path();
    return Recovery{normal, former, next, seams}.run();
}

Result<Recovered> recover_directory(const fs::path& path, core::ClusterId former,
                                    core::ClusterId next) {
    return on_own_thread([&] { return recover_directory(path, former, next, Seams{}); });
}

}  // namespace mortise::storage
