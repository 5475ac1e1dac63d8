#include "tests/unit/storage/storage_fixture.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

namespace mortise::storage::test {

namespace {

LogContent beginning_at(const LogContent& log, const LogBase& base) {
    return {log.hard_state, base.id, base.configuration, {}};
}

void carry_out(const core::Write& write, LogContent& log) {
    if (write.hard_state) log.hard_state = *write.hard_state;
    if (write.reset) log = beginning_at(log, *write.reset);
    if (write.truncate_from) {
        std::erase_if(log.entries,
                      [&](const Entry& entry) { return entry.id.index >= *write.truncate_from; });
    }
    log.entries.insert(log.entries.end(), write.append.begin(), write.append.end());
}

LogId last_of(const LogContent& log) {
    return log.entries.empty() ? log.base : log.entries.back().id;
}

LogId id_at(const LogContent& log, LogIndex index) {
    if (index == log.base.index) return log.base;
    return log.entries.at(index.raw() - log.base.index.raw() - 1).id;
}

LogContent purged(LogContent log, const LogBase& base) {
    std::erase_if(log.entries, [&](const Entry& entry) { return entry.id.index <= base.id.index; });
    log.base = base.id;
    log.configuration = base.configuration;
    return log;
}

core::Command request(std::uint64_t session, std::uint64_t seq, core::RequestBody body) {
    return core::Request{core::SessionId{session}, core::Seq{seq}, std::move(body)};
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
    // In memory if possible: hundreds of these are created, and none loses its power in reality.
    std::filesystem::path parent{"/dev/shm"};
    if (::access(parent.c_str(), W_OK) != 0) parent = std::filesystem::temp_directory_path();
    auto name = (parent / "mortise-storage-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

LogContent content_of(const Opened& node) {
    const auto& raft = node.state.raft;
    return {raft.hard_state, raft.base, raft.configuration, raft.entries};
}

std::string in_words(const LogContent& content) {
    std::string text = "term " + std::to_string(content.hard_state.term.raw()) + " vote " +
                       std::to_string(content.hard_state.voted_for.raw()) + " base " +
                       std::to_string(content.base.index.raw()) + ":";
    for (const auto& entry : content.entries) {
        text +=
            " " + std::to_string(entry.id.term.raw()) + "." + std::to_string(entry.id.index.raw());
    }
    return text;
}

// Ten entries are the life of a session: it opens, acquires and releases, and closes.
std::vector<core::Command> batch_for(LogIndex index) {
    const auto session = (index.raw() + 9) / 10;
    const auto seq = index.raw() % 10;
    if (seq == 0) return {request(session, 9, core::CloseSession{}), core::Sweep{}};
    if (seq == 1) {
        core::OpenSession open;
        open.nonce = index.raw();
        open.node = n1;
        open.generation.incarnation = core::Incarnation{index.raw()};
        open.generation.boot_epoch = core::BootEpoch{1};
        open.ttl_ms = 10'000;
        open.rho_ppm = 10'000;
        return {open};
    }
    if (seq % 3 == 0) return {request(session, seq - 1, core::Release{core::Seq{seq - 2}})};
    core::Acquire acquire;
    acquire.names.push_back({"name-" + std::to_string(seq)});
    acquire.label = "taken at " + std::to_string(index.raw());
    return {request(session, seq - 1, acquire)};
}

core::LockMachine machine_at(LogIndex index) {
    core::LockMachine machine;
    for (LogIndex at{1}; at <= index; at = at.next()) {
        core::Outcomes outcomes;
        machine.apply(at, batch_for(at), outcomes);
    }
    return machine;
}

bool is_same_state(const core::LockMachine& a, const core::LockMachine& b) {
    return a.list("", "", 1000) == b.list("", "", 1000) && a.needs_sweep() == b.needs_sweep();
}

std::vector<core::Row> rows_at(LogIndex index) {
    if (!index.is_set()) return {};
    auto machine = machine_at(index);
    auto rows = machine.take_changed_rows();
    std::erase_if(rows, [](const core::Row& row) { return !row.value; });
    return rows;
}

Result<std::vector<core::Row>> rows_of(StateView& view, std::size_t bytes_max) {
    std::vector<core::Row> rows;
    std::optional<std::string> after;
    while (true) {
        auto page = view.read(after, bytes_max);
        if (!page) return page.error();
        rows.insert(rows.end(), page->rows.begin(), page->rows.end());
        if (page->done) return rows;
        after = rows.back().key;
    }
}

Result<void> begin_install(StateStore& store, const LogBase& to) {
    if (auto begun = store.begin_install(to.id, to.configuration); !begun) return begun;
    const auto rows = rows_at(to.id.index);
    for (std::size_t at = 0; at < rows.size(); at += 2) {
        const auto count = std::min<std::size_t>(2, rows.size() - at);
        if (auto done = store.install(std::span{rows}.subspan(at, count)); !done) return done;
    }
    return {};
}

std::string RandomLife::begin(const Opened& found) {
    auto content = content_of(found);
    std::vector<LogContent> may_be{memory_.log};
    if (memory_.tried) may_be.push_back(*memory_.tried);
    if (memory_.purging) {
        for (std::size_t i = 0, end = may_be.size(); i < end; ++i)
            if (may_be[i].base < memory_.purging->id)
                may_be.push_back(purged(may_be[i], *memory_.purging));
    }
    if (std::find(may_be.begin(), may_be.end(), content) == may_be.end())
        return "found " + in_words(content) + "\nnot   " + in_words(memory_.log);
    applied_ = found.state.raft.applied;
    if (applied_ < memory_.flushed || applied_ > memory_.saved)
        return "the state is at " + std::to_string(applied_.raw());
    if (applied_ < content.base.index || applied_ > last_of(content).index)
        return "the state is at " + std::to_string(applied_.raw()) + ", " + in_words(content);
    if (!is_same_state(found.state.machine, machine_at(applied_)))
        return "the state is not what it was at " + std::to_string(applied_.raw());
    if (found.generation.boot_epoch.raw() <= memory_.epoch) return "the boot epoch did not rise";
    memory_.log = std::move(content);
    memory_.tried.reset();
    memory_.purging.reset();
    memory_.saved = applied_;
    memory_.flushed = applied_;
    memory_.committed = std::max(memory_.committed, applied_);
    memory_.epoch = found.generation.boot_epoch.raw();
    machine_ = machine_at(applied_);
    if (applied_.is_set()) (void)machine_.take_changed_rows();  // they are on disk
    return {};
}

Result<void> RandomLife::act(Opened& node) {
    const auto what = prng_.below(13);
    if (what < 6) return write(node);
    if (what < 7) return purge(node);
    if (what < 9) return save(node);
    if (what < 10) return flush(node);
    if (what < 11) return look(node);
    return install(node);
}

Result<void> RandomLife::write(Opened& node) {
    auto log = memory_.log;
    std::vector<core::Write> writes;
    for (auto left = 1 + prng_.below(3); left > 0; --left)
        writes.push_back(draw_write(log));
    memory_.tried = log;
    auto done = node.log->write(writes);
    if (!done) return done;
    memory_.log = memory_.purging ? purged(std::move(log), *memory_.purging) : std::move(log);
    memory_.purging.reset();
    memory_.tried.reset();
    const auto last = last_of(memory_.log).index.raw();
    memory_.committed = LogIndex{std::max(
        memory_.committed.raw(), last - prng_.below(std::min<std::uint64_t>(last, 5) + 1))};
    return done;
}

core::Write RandomLife::draw_write(LogContent& log) {
    core::Write write;
    if (prng_.one_in(3)) {
        const auto term = log.hard_state.term.raw() + 1;
        write.hard_state = core::HardState{Term{term}, core::NodeId{prng_.below(4)}};
    } else if (prng_.one_in(3)) {
        write.hard_state = log.hard_state;
    }
    auto next = last_of(log).index.next();
    if (next > memory_.committed.next() && prng_.one_in(3)) {
        const auto above = next.raw() - memory_.committed.raw() - 1;
        next = LogIndex{memory_.committed.raw() + 1 + prng_.below(above)};
        write.truncate_from = next;
    }
    const auto term = std::max(last_of(log).term.raw(), log.hard_state.term.raw()) +
                      (write.truncate_from ? 1U : 0U);
    const std::array<std::uint64_t, 4> sizes{1, 100, 5'000, 70'000};
    for (auto left = prng_.below(4); left > 0; --left) {
        const auto size = prng_.below(sizes.at(prng_.below(sizes.size())));
        std::string payload(size, static_cast<char>('a' + prng_.below(26)));
        write.append.push_back(commands({Term{term}, next}, std::move(payload)));
        next = next.next();
    }
    carry_out(write, log);
    return write;
}

Result<void> RandomLife::purge(Opened& node) {
    const auto base = memory_.purging ? memory_.purging->id.index : memory_.log.base.index;
    if (memory_.flushed <= base) return {};
    const LogIndex to{base.raw() + 1 + prng_.below(memory_.flushed.raw() - base.raw())};
    const LogBase purge{id_at(memory_.log, to), core::test::voters({1, 2, to.raw() + 10})};
    memory_.purging = purge;
    return node.log->purge_to(purge);
}

Result<void> RandomLife::save(Opened& node) {
    if (memory_.committed <= applied_) return {};
    const LogIndex to{applied_.raw() + 1 + prng_.below(memory_.committed.raw() - applied_.raw())};
    while (applied_ < to) {
        applied_ = applied_.next();
        core::Outcomes outcomes;
        machine_.apply(applied_, batch_for(applied_), outcomes);
    }
    memory_.saved = applied_;
    return node.state_store->write(
        {id_at(memory_.log, to), core::test::voters({1, 2, 3}), machine_.take_changed_rows()});
}

// What is written during a view is not visible in it.
Result<void> RandomLife::look(Opened& node) {
    auto view = node.state_store->view();
    if (!view) return view.error();
    const auto at = applied_;
    if (auto saved = save(node); !saved) return saved;
    const auto rows = rows_of(**view, 100);
    if (!rows) return rows.error();
    if ((*view)->applied().index == at && *rows == rows_at(at)) return {};
    return make_error(Errc::io, "the view is not the state at " + std::to_string(at.raw()));
}

// Sometimes it is not finished, as when the leader changes meanwhile.
Result<void> RandomLife::install(Opened& node) {
    const auto to = draw_install();
    if (prng_.one_in(3)) return begin_install(*node.state_store, to);
    const bool keeps_tail =
        to.id.index <= last_of(memory_.log).index && to.id == id_at(memory_.log, to.id.index);
    if (!keeps_tail) memory_.tried = beginning_at(memory_.log, to);
    memory_.saved = to.id.index;
    if (auto begun = begin_install(*node.state_store, to); !begun) return begun;
    if (auto done = node.state_store->finish_install(); !done) return done;
    applied_ = to.id.index;
    machine_ = machine_at(applied_);
    static_cast<void>(machine_.take_changed_rows());
    memory_.flushed = applied_;
    memory_.committed = std::max(memory_.committed, applied_);
    if (keeps_tail) return {};
    auto done = put(node, resets(to));
    if (!done) return done;
    memory_.log = *std::exchange(memory_.tried, std::nullopt);
    memory_.purging.reset();
    return done;
}

// An entry beyond what is committed here: one that the log has, or another in its place, or one
// that it never had.
LogBase RandomLife::draw_install() {
    const auto last = last_of(memory_.log);
    const LogIndex index{memory_.committed.raw() + 1 + prng_.below(8)};
    const auto configuration = core::test::voters({1, 2, index.raw() + 20});
    if (index <= last.index && prng_.one_in(2)) return {id_at(memory_.log, index), configuration};
    const auto term = std::max(last.term, memory_.log.hard_state.term).next();
    return {{term, index}, configuration};
}

Result<void> RandomLife::flush(Opened& node) {
    const auto flushed = node.state_store->flush();
    if (!flushed) return flushed.error();
    if (*flushed != memory_.saved)
        return make_error(Errc::io, "flush answered " + std::to_string(flushed->raw()));
    memory_.flushed = *flushed;
    return node.state_store->save_countdowns({});
}

}  // namespace mortise::storage::test
