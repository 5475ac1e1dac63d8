#include "storage/directory/directory_reader.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "storage/base/host.hpp"
#include "storage/files/directory_lock.hpp"
#include "storage/log/log_rows.hpp"
#include "storage/log/rocks_log_store.hpp"
#include "storage/log/torn_tail.hpp"
#include "storage/rocks/read_only.hpp"
#include "storage/state/rocks_state_store.hpp"

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

class Reading {
public:
    Reading(fs::path path, const Seams& seams) : path_{std::move(path)}, seams_{seams} {}

    Result<DirectoryContent> run() {
        auto result = read_meta();
        if (result) result = read_log();
        if (result) result = read_state();
        if (!result) return std::move(result).error();
        return std::move(content_);
    }

private:
    // Damage of the directory is noted; an error of the reading itself is returned.
    Result<void> note(Error error) {
        const bool is_damage = error.code == Errc::damaged || error.code == Errc::newer_format;
        if (!is_damage) return error;
        content_.damage.push_back(std::move(error));
        return {};
    }
    Result<void> damaged(const fs::path& part, const std::string& what) {
        return note(make_error(Errc::damaged, part.string() + ": " + what));
    }

    Result<void> read_meta() {
        const auto file = path_ / "meta";
        if (!is_there(file)) return damaged(file, "it is missing");
        auto meta = MetaFile::read(file, seams_.probe);
        if (!meta) return note(std::move(meta).error());
        meta_ = *std::move(meta);
        read_life();
        content_.node = meta_->node;
        content_.incarnation = meta_->incarnation;
        content_.cluster = meta_->cluster;
        content_.boot_epoch = meta_->boot_epoch;
        content_.hard_state = meta_->hard_state;
        content_.set_aside = meta_->set_aside;
        content_.unsynced = meta_->unsynced;
        content_.synced = meta_->synced.id.index;
        return {};
    }

    // What a start here would make of it.
    void read_life() {
        struct stat lock {};
        const bool is_locked = ::lstat((path_ / "LOCK").c_str(), &lock) == 0;
        content_.is_copy =
            meta_->boot_epoch.is_set() && is_locked && lock.st_ino != meta_->life.inode;
        const Life now{kernel_boot_id(), lock.st_dev, lock.st_ino};
        content_.lost_power = may_lack_unsynced(*meta_, now, is_local());
        if (content_.lost_power) meta_->last = meta_->synced;
    }

    [[nodiscard]] bool is_local() const {
        const auto file = File::open(path_ / "meta", O_RDONLY, nullptr);
        return file && is_on_local_file_system(file->descriptor());
    }

    // Nothing was ever written there, so files may be missing.
    [[nodiscard]] bool is_untouched() const {
        return meta_ && meta_->last == EntryMark{} && meta_->hard_state == core::HardState{};
    }

    Result<void> read_log() {
        const auto path = path_ / "log";
        if (!is_there(path / "CURRENT"))
            return is_untouched() ? Result<void>{} : damaged(path, "it is missing");
        FileEnds ends;
        if (content_.lost_power) {
            auto found = ends_after_power_loss(path);
            if (!found) return std::move(found).error();
            ends = *std::move(found);
        }
        auto database = prepare_database(path, ends_early(seams_.files, ends));
        if (!database) return std::move(database).error();
        if (auto opened = open_log(*database, ends); !opened)
            return note(std::move(opened).error());
        if (!database->db) return {};
        const auto bytes = row_of(*database, log_head_key);
        if (bytes.empty() && is_untouched()) return {};
        if (meta_ && !bytes.empty()) {
            auto whole = RocksLogStore::recover(*database, *meta_);
            if (whole) return take(*std::move(whole));
            if (auto noted = note(std::move(whole).error()); !noted) return noted;
        }
        return read_readable(*database, bytes);
    }

    Result<void> open_log(RocksDatabase& database, const FileEnds& ends) {
        if (auto whole = refuse_holes(database.path, ends); !whole) {
            if (auto noted = note(std::move(whole).error()); !noted) return noted;
        }
        auto options = log_options(*database.env, database.errors);
        auto opened = open_read_only(options, database);
        if (opened || opened.error().code != Errc::damaged) return opened;
        auto is_torn = ends_in_torn_write(database.path, ends);
        if (!is_torn) return std::move(is_torn).error();
        content_.is_torn = *is_torn;
        if (!*is_torn) {
            if (auto noted = note(std::move(opened).error()); !noted) return noted;
        }
        options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
        opened = open_read_only(options, database);
        return opened || *is_torn ? std::move(opened) : Result<void>{};
    }

    Result<void> take(RecoveredLog log) {
        content_.hard_state = log.hard_state;
        content_.base = log.base().id;
        content_.base_configuration = log.head.base.configuration;
        content_.entries = std::move(log.entries);
        if (!content_.cluster.is_set()) content_.cluster = log.cluster();
        return {};
    }

    // Reads row by row what a start refuses.
    Result<void> read_readable(const RocksDatabase& database, std::string_view head_row) {
        RecoveredLog log;
        log.hard_state = content_.hard_state;
        if (auto head = decode_log_head(head_row)) {
            log.head = *std::move(head);
            if (!content_.node.is_set()) content_.node = log.head.node;
            if (!content_.incarnation.is_set()) content_.incarnation = log.head.incarnation;
        } else if (!meta_ || head_row.empty()) {
            // If both exist, the attempted start has already reported the damage.
            if (auto noted = damaged(database.path,
                                     "the record of where it begins is missing or "
                                     "damaged");
                !noted)
                return noted;
        }
        if (const auto state = decode_hard_state(row_of(database, hard_state_key)))
            log.hard_state = *state;
        if (auto read = read_entries(database, log); !read) return note(std::move(read).error());
        return take(std::move(log));
    }

    Result<void> read_entries(const RocksDatabase& database, RecoveredLog& log) {
        const std::unique_ptr<rocksdb::Iterator> rows{database.db->NewIterator({})};
        for (rows->Seek(entry_key(log.head.base.id.index.next())); rows->Valid(); rows->Next()) {
            const auto index = index_of_key(rows->key().ToStringView());
            if (!index) break;
            auto row = decode_entry(*index, rows->value().ToStringView());
            if (row) {
                log.entries.push_back(std::move(row->entry));
            } else if (auto noted = damaged(database.path, "entry " + std::to_string(index->raw()) +
                                                               " cannot be read");
                       !noted) {
                return noted;
            }
        }
        if (!rows->status().ok()) return to_error(rows->status(), database.path);
        return {};
    }

    Result<void> read_state() {
        const auto path = path_ / "state";
        if (!is_there(path / "CURRENT")) {
            // A missing state is rebuilt as long as the log has every entry.
            if (content_.base.index.is_set()) return damaged(path, "it is missing");
            content_.machine.emplace();
            return {};
        }
        auto database = prepare_database(path, seams_.files);
        if (!database) return std::move(database).error();
        const auto options = state_options(*database->env, database->errors);
        if (auto opened = open_read_only(options, *database); !opened)
            return note(std::move(opened).error());
        auto incarnation = content_.incarnation;
        const auto applied = decode_applied(row_of(*database, applied_key));
        if (!incarnation.is_set() && applied) incarnation = applied->incarnation;
        auto found = RocksStateStore::read(*database, incarnation);
        if (!found) return note(std::move(found).error());
        content_.applied = found->about.applied;
        content_.applied_configuration = found->about.configuration;
        content_.machine = std::move(found->machine);
        if (!content_.cluster.is_set()) content_.cluster = content_.applied_configuration.cluster;
        if (log_has(content_.applied)) return {};
        const bool is_reset_missing =
            found->about.is_installed && content_.applied.index > content_.base.index;
        if (is_reset_missing) {  // the log has yet to begin there, as after a start
            content_.base = content_.applied;
            content_.base_configuration = content_.applied_configuration;
            content_.entries.clear();
            return {};
        }
        return damaged(path, "the state at " + std::to_string(content_.applied.index.raw()) +
                                 " does not fit the log");
    }

    [[nodiscard]] bool log_has(const core::LogId& id) const {
        if (id == content_.base) return true;
        for (const auto& entry : content_.entries)
            if (entry.id == id) return true;
        return false;
    }

    fs::path path_;  // in normal form, without a slash at the end
    const Seams& seams_;
    std::optional<Meta> meta_;  // by read_meta(), unless the file is missing or damaged
    DirectoryContent content_;  // filled by each step with what it could read
};

}  // namespace

Result<DirectoryContent> read_directory(const fs::path& path, const Seams& seams) {
    auto normal = path.lexically_normal();
    if (!normal.has_filename()) normal = normal.parent_path();
    constexpr const char* advice = ": name the data_dir of the node";
    std::error_code failed;
    if (!fs::exists(normal, failed))
        return failed ? io_error("cannot look at " + normal.string(), failed.value())
                      : make_error(Errc::io, normal.string() + " does not exist" + advice);
    const auto kept = DirectoryLock::keep_out(normal, seams.probe);
    if (!kept) return kept.error();
    bool has_any = false;
    for (const auto* part : {"meta", "log", "state"})
        has_any = has_any || is_there(normal / part);
    if (!has_any)
        return make_error(Errc::io, normal.string() + " is not a data directory" + advice);
    return Reading{normal, seams}.run();
}

}  // namespace mortise::storage
