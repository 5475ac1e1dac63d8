#include "tools/mortise/demo/fenced_log.hpp"

#include <utility>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/json_form.hpp"

namespace mortise::cli {

namespace {

const char* word(LogRecord::Kind kind) {
    switch (kind) {
        case LogRecord::Kind::write: return "write";
        case LogRecord::Kind::lost: return "lost";
        case LogRecord::Kind::kill: return "kill";
        case LogRecord::Kind::restart: return "restart";
        case LogRecord::Kind::partition: return "partition";
        case LogRecord::Kind::heal: return "heal";
        case LogRecord::Kind::power_cut: return "power_cut";
        case LogRecord::Kind::era: return "era";
    }
    return "?";
}

Json line_of(const LogRecord& record) {
    Json line{{"what", word(record.kind)}, {"at_ns", record.at.count()}, {"node", record.node}};
    if (record.lock.empty()) return line;
    line["worker"] = record.worker;
    line["lock"] = record.lock;
    line["token"] = record.token.to_string();
    if (record.kind != LogRecord::Kind::write) return line;
    line["claims_valid"] = record.claims_valid;
    line["accepted"] = record.accepted;
    return line;
}

}  // namespace

FencedLog::FencedLog(const std::filesystem::path& file) : file_{file} {
    if (!file_) throw Failure{ExitCode::io_error, "cannot write " + file.string()};
}

bool FencedLog::add(LogRecord record) {
    if (record.kind == LogRecord::Kind::write) {
        auto& newest = newest_[record.lock];
        record.accepted = record.token >= newest && record.token.is_set();
        if (record.accepted) newest = record.token;
    }
    file_ << line_of(record).dump() << std::endl;
    if (!file_) throw Failure{ExitCode::io_error, "cannot write the fenced log"};
    records_.push_back(std::move(record));
    return records_.back().accepted;
}

}  // namespace mortise::cli
