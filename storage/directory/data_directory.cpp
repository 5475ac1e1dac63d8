#include "storage/directory/data_directory.hpp"

#include <cerrno>
#include <utility>

#include <sys/stat.h>

#include "storage/base/own_thread.hpp"
#include "storage/directory/memory_directory.hpp"
#include "storage/directory/open_parts.hpp"
#include "storage/directory/set_aside.hpp"
#include "storage/files/countdown_file.hpp"
#include "storage/files/log_room.hpp"
#include "storage/files/reserve_file.hpp"
#include "storage/log/rocks_log_store.hpp"
#include "storage/log/torn_tail.hpp"
#include "storage/rocks/own_files.hpp"
#include "storage/state/rocks_state_store.hpp"

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

// Checks everything but the content: that it is a directory, that it is ours, and that no other
// process has it. Locks it.
Result<std::shared_ptr<DirectoryLock>> enter(const fs::path& path, const OpenOptions& options,
                                             FileProbe* probe) {
    struct stat about {};
    const bool exists = ::lstat(path.c_str(), &about) == 0;
    if (!exists && errno == ENOTDIR)
        return make_error(Errc::not_a_directory, path.string() + " is below a file");
    if (!exists && errno != ENOENT) return io_error("cannot look at " + path.string(), errno);
    if (exists && S_ISLNK(about.st_mode)) {
        return make_error(Errc::not_a_directory, path.string() +
                                                     " is a symbolic link: name the directory "
                                                     "that it leads to");
    }
    if (exists && !S_ISDIR(about.st_mode))
        return make_error(Errc::not_a_directory, path.string() + " is not a directory");
    if (!exists && !options.create) return make_error(Errc::io, path.string() + " does not exist");
    if (auto made = make_directory(path, probe); !made) return std::move(made).error();
    return DirectoryLock::take(path, probe);
}

// Opens a directory in steps; each step needs the results of the previous one.
class Opening {
public:
    Opening(fs::path path, const OpenOptions& options, const Seams& seams,
            std::shared_ptr<DirectoryLock> lock)
        : path_{std::move(path)},
          options_{options},
          seams_{seams},
          lock_{std::move(lock)},
          files_{seams_.files ? seams_.files : own_files(lock_)} {}

    Result<Opened> run() {
        auto result = hold_reserve();
        // What fills the volume may be this directory: opening the log frees what was purged of it.
        const bool is_full = !result && result.error().code == Errc::no_space;
        if (is_full) result = give_up_reserve();
        if (result) result = open_meta();
        if (result) result = open_log();
        if (result) result = open_state();
        if (result && is_full) result = hold_reserve();
        if (result) result = begin_life();
        if (!result) return std::move(result).error();
        return std::move(opened_);
    }

private:
    // The reserve comes first, because the next steps also need space.
    Result<void> hold_reserve() {
        if (options_.reserve_bytes == 0) return {};
        auto held = ReserveFile::hold(path_ / "reserve", options_.reserve_bytes, seams_.probe);
        if (!held) return std::move(held).error();
        reserve_ = *std::move(held);
        return {};
    }

    Result<void> give_up_reserve() {
        std::error_code failed;
        const auto path = path_ / "reserve";
        if (fs::file_size(path, failed) == 0 || failed) return {};
        return remove_file(path, seams_.probe);
    }

    Result<void> open_meta() {
        const auto file = path_ / "meta";
        std::error_code failed;
        const bool known = fs::exists(file, failed);
        if (failed) return io_error("cannot look at " + file.string(), failed.value());
        auto meta = known ? MetaFile::open(file, seams_.probe) : make_meta(file);
        if (!meta) return std::move(meta).error();
        const auto owner = meta->meta().node;
        if (owner != options_.self) {
            return make_error(Errc::wrong_node,
                              path_.string() + " belongs to node " + std::to_string(owner.raw()) +
                                  ", this is node " + std::to_string(options_.self.raw()) +
                                  ": every node needs a directory and an id of its own");
        }
        meta_.emplace(*std::move(meta));
        if (meta_->meta().set_aside == 0) return note_power_loss();
        auto anew = finish_setting_aside(path_, *meta_, options_, seams_.probe);
        if (!anew) return std::move(anew).error();
        meta_.emplace(*std::move(anew));
        opened_.set_aside = path_.string() + ": an earlier start had begun to move it aside";
        return {};
    }

    // From here on no start demands what may be lost, and the node gives no vote until it has
    // recovered. The former life stays, so that this start may be repeated.
    Result<void> note_power_loss() {
        auto meta = meta_->meta();
        lost_power_ = may_lack_unsynced(meta, lock_->life(), lock_->is_local());
        if (!lost_power_) return {};
        meta.unsynced = core::Unsynced::forgotten;
        meta.last = meta.synced;
        return meta_->write(std::move(meta), Durable::yes);
    }

    Result<MetaFile> make_meta(const fs::path& file) {
        for (const auto* part : {"log", "state"}) {
            std::error_code failed;
            const bool exists = fs::exists(path_ / part, failed);
            if (failed)
                return io_error("cannot look at " + (path_ / part).string(), failed.value());
            if (exists) return make_error(Errc::damaged, file.string() + " is missing");
        }
        if (!options_.create)
            return make_error(Errc::io, path_.string() + " is not a data directory");
        Meta meta;
        meta.node = options_.self;
        meta.incarnation = mint_incarnation(options_);
        return MetaFile::create(file, meta, seams_.probe);
    }

    Result<void> open_log() {
        const auto path = path_ / "log";
        if (auto made = make_directory(path, seams_.probe); !made) return made;
        const auto bytes = room_of(path_);
        const auto room = bytes ? log_room(*bytes) : LogRoom{};
        opened_.log_bytes_max = [directory = path_, newest = room.log_bytes]() mutable {
            if (const auto now = room_of(directory)) newest = log_room(*now).log_bytes;
            return newest;
        };
        FileEnds ends;
        if (lost_power_) {
            auto found = ends_after_power_loss(path);
            if (!found) return std::move(found).error();
            ends = *std::move(found);
        } else if (auto synced = sync_page_cache(path); !synced) {
            return synced;
        }
        auto database = RocksLogStore::open(path, files_, meta_->meta(), room, ends);
        if (!database) return std::move(database).error();
        auto found = RocksLogStore::recover(*database, meta_->meta());
        if (!found) return std::move(found).error();
        log_database_ = *std::move(database);
        log_ = *std::move(found);
        return {};
    }

    // What a process that was killed has left counts as acknowledged.
    Result<void> sync_page_cache(const fs::path& path) {
        if (meta_->meta().unsynced == core::Unsynced::nothing) return {};
        return sync_logs(path, seams_.probe);
    }

    // The state may be older than the end of the log, and the log must begin no later than the
    // state ends.
    Result<void> open_state() {
        const auto path = path_ / "state";
        if (auto made = make_directory(path, seams_.probe); !made) return made;
        const auto base = log_.base().id;
        auto database = RocksStateStore::open(path, files_, !base.index.is_set());
        if (!database) return std::move(database).error();
        auto found = RocksStateStore::recover(*database, meta_->meta());
        if (!found) return std::move(found).error();
        const auto& about = found->about;
        // An install was completed, and the log was not reset yet. Everything that the log had
        // acknowledged is in that state.
        const bool is_reset_missing = about.is_installed && about.applied.index > base.index;
        if (!log_has(about.applied)) {
            if (!is_reset_missing) {
                return make_error(Errc::damaged, path.string() + ": the state at " +
                                                     std::to_string(about.applied.index.raw()) +
                                                     " does not fit the log");
            }
            reset_ = LogBase{about.applied, about.configuration};
            const auto former = log_.cluster();
            begins_terms_ = former.is_set() && former != about.configuration.cluster;
        }
        state_database_ = *std::move(database);
        state_ = *std::move(found);
        return {};
    }

    [[nodiscard]] bool log_has(const core::LogId& id) const {
        const auto base = log_.base().id;
        if (id.index <= base.index) return id == base;
        const auto at = id.index.raw() - base.index.raw();
        return at <= log_.entries.size() && log_.entries[at - 1].id == id;
    }

    // From here on this run is the newest, and `meta` covers everything that was found.
    Result<void> begin_life() {
        auto countdowns = CountdownFile::open(path_, seams_.probe);
        if (!countdowns) return std::move(countdowns).error();
        auto meta = meta_->meta();
        compare_lives(meta);
        if (!options_.is_offline) {
            meta.boot_epoch = meta.boot_epoch.next();
            meta.life = lock_->life();
        }
        meta.hard_state = log_.hard_state;
        meta.last = meta.synced = log_.last();
        const auto cluster = this->cluster();
        // A recovery gave the log another cluster; an empty log has none, but its node has.
        if (cluster.is_set()) meta.cluster = cluster;
        if (auto begun = meta_->write(meta, Durable::yes); !begun) return begun;
        // RocksDB does not wait for descriptors during a start, so that its caller learns why it
        // fails.
        log_database_.env->be_patient(seams_.patience);
        state_database_.env->be_patient(seams_.patience);
        opened_.lock = lock_;
        opened_.is_held = [lock = lock_] { return lock->is_held(); };
        opened_.generation = {meta.incarnation, meta.boot_epoch};
        opened_.log = std::make_unique<RocksLogStore>(
            Held{lock_, reserve_}, std::move(log_database_), *std::move(meta_), log_);
        opened_.state.countdowns = countdowns->found();
        opened_.state_store =
            std::make_unique<RocksStateStore>(Held{lock_, reserve_}, std::move(state_database_),
                                              *std::move(countdowns), state_.about);
        opened_.state.raft = {log_.hard_state,
                              log_.base().id,
                              std::move(log_.entries),
                              state_.about.applied.index,
                              log_.head.base.configuration,
                              meta.unsynced};
        opened_.state.machine = std::move(state_.machine);
        if (!cluster.is_set()) opened_.state.former_cluster = meta.cluster;
        return reset_ ? reset_log() : Result<void>{};
    }

    // A device may have another number after a boot; an inode keeps its number.
    void compare_lives(const Meta& meta) {
        if (!meta.boot_epoch.is_set()) return;
        const auto& then = meta.life;
        const auto& now = lock_->life();
        const bool same_boot = then.boot_id == now.boot_id && !then.boot_id.empty();
        opened_.former_life_ended = then == now && same_boot && lock_->is_local();
        opened_.is_copy = then.inode != now.inode || (same_boot && then.device != now.device);
    }

    [[nodiscard]] core::ClusterId cluster() const {
        const auto& there = state_.about.configuration;
        return there.is_formed() ? there.cluster : log_.cluster();
    }

    Result<void> reset_log() {
        core::Write write;
        if (begins_terms_) write.hard_state = core::HardState{reset_->id.term, {}};
        opened_.state.raft.hard_state = write.hard_state.value_or(log_.hard_state);
        opened_.state.raft.base = reset_->id;
        opened_.state.raft.configuration = reset_->configuration;
        opened_.state.raft.entries.clear();
        write.reset = std::move(reset_);
        return opened_.log->write({&write, 1});
    }

    fs::path path_;  // in normal form, without a slash at the end
    const OpenOptions& options_;
    const Seams& seams_;
    std::shared_ptr<DirectoryLock> lock_;         // held since before the first step
    std::shared_ptr<rocksdb::FileSystem> files_;  // below both databases
    std::shared_ptr<ReserveFile> reserve_;        // by hold_reserve(); null: none was requested
    std::optional<MetaFile> meta_;                // by open_meta()
    bool lost_power_ = false;                     // likewise: what was not synced may be lost
    RocksDatabase log_database_;                  // by open_log(), as is the next one
    RecoveredLog log_;
    RocksDatabase state_database_;  // by open_state(), as are the next three
    RecoveredState state_;
    std::optional<LogBase> reset_;  // the entry at which the log has yet to begin
    // A recovery that was cut short has installed the state of another cluster, which has terms of
    // its own.
    bool begins_terms_ = false;
    Opened opened_;  // filled by several steps; begin_life() moves the stores into it
};

Result<Opened> begin_anew(const fs::path& path, const OpenOptions& options, const Seams& seams,
                          const std::shared_ptr<DirectoryLock>& lock, std::string why) {
    const auto kept = set_aside(path, options, seams);
    if (!kept) return kept.error();
    auto anew = Opening{path, options, seams, lock}.run();
    if (anew) anew->set_aside = std::move(why) + "; its content is kept in " + kept->string();
    return anew;
}

// If the directory was being moved aside, that is completed, as after any crash.
Result<bool> is_superseded(const fs::path& path, const OpenOptions& options, const Seams& seams) {
    if (!options.superseded.is_set()) return false;
    const auto file = MetaFile::open(path / "meta", seams.probe);
    if (!file && may_pass(file.error())) return file.error();
    return file && file->meta().incarnation == options.superseded && file->meta().set_aside == 0;
}

}  // namespace

Result<Opened> open_directory(const fs::path& path, const OpenOptions& options,
                              const Seams& seams) {
    // With a slash at the end the system would follow a symbolic link.
    auto normal = path.lexically_normal();
    if (!normal.has_filename()) normal = normal.parent_path();
    const auto lock = enter(normal, options, seams.probe);
    if (!lock) return lock.error();
    const auto superseded = is_superseded(normal, options, seams);
    if (!superseded) return superseded.error();
    if (*superseded) {
        return begin_anew(normal, options, seams, *lock,
                          normal.string() + ": peers have seen a later start of it");
    }
    auto opened = Opening{normal, options, seams, *lock}.run();
    const auto is_damaged = [&] { return !opened && opened.error().code == Errc::damaged; };
    if (!options.rejoins || !is_damaged()) return opened;
    // Reads once more, because a bit may have been wrong only on its way from the disk.
    opened = Opening{normal, options, seams, *lock}.run();
    if (!is_damaged()) return opened;
    return begin_anew(normal, options, seams, *lock, opened.error().what);
}

Result<Opened> open_directory(const fs::path& path, const OpenOptions& options) {
    return on_own_thread([&] { return open_directory(path, options, Seams{}); });
}

}  // namespace mortise::storage
