#include "tools/mortise/demo/verdict.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

// One grant as its writes show it: from the first to the last time that its worker found it valid.
struct Tenure {
    FencingToken token;
    NodeId node = 0;
    int worker = 0;
    std::chrono::nanoseconds first{};
    std::chrono::nanoseconds last{};

    [[nodiscard]] std::string words() const {
        return "node " + std::to_string(node) + " worker " + std::to_string(worker) + " (token " +
               token.to_string() + ")";
    }
};

class Judge {
public:
    Verdict judge(const std::vector<LogRecord>& records, Story story) {
        for (const auto& record : records)
            take(record);
        for (auto& [lock, tenures] : locks_)
            check_lock(lock, tenures);
        for (const auto& [lock, tenures] : locks_)
            count(tenures);
        check_that_something_happened(story);
        return std::move(verdict_);
    }

private:
    void take(const LogRecord& record) {
        switch (record.kind) {
            case LogRecord::Kind::write: return take_write(record);
            case LogRecord::Kind::lost: ++verdict_.losses; return;
            case LogRecord::Kind::kill: ++verdict_.kills; return;
            case LogRecord::Kind::partition: ++verdict_.partitions; return;
            case LogRecord::Kind::era: ++verdict_.eras; return;
            case LogRecord::Kind::power_cut:
                ++verdict_.power_cuts;
                cut_at_ = std::max(cut_at_, record.at);
                return;
            case LogRecord::Kind::restart:
            case LogRecord::Kind::heal: return;
        }
    }

    void take_write(const LogRecord& record) {
        if (!record.token.is_set()) complain(record.lock, "a write without a token");
        check_store(record);
        if (!record.claims_valid) return;
        auto& tenures = locks_[record.lock];
        const auto same = std::ranges::find_if(tenures, [&](const Tenure& tenure) {
            return std::tie(tenure.token, tenure.node, tenure.worker) ==
                   std::tie(record.token, record.node, record.worker);
        });
        if (same == tenures.end()) {
            tenures.push_back({record.token, record.node, record.worker, record.at, record.at});
        } else {
            same->first = std::min(same->first, record.at);
            same->last = std::max(same->last, record.at);
        }
    }

    // Called in the order in which the store received the records.
    void check_store(const LogRecord& record) {
        auto& newest = newest_[record.lock];
        ++(record.accepted ? verdict_.accepted : verdict_.refused);
        if (record.accepted && record.token < newest)
            complain(record.lock, "the store took token " + record.token.to_string() + " after " +
                                      newest.to_string());
        if (!record.accepted && record.token > newest)
            complain(record.lock, "the store refused token " + record.token.to_string() +
                                      ", the greatest so far");
        newest = std::max(newest, record.token);
    }

    void check_lock(const std::string& lock, std::vector<Tenure>& tenures) {
        std::ranges::sort(tenures, {}, [](const Tenure& tenure) {
            return std::tie(tenure.first, tenure.last, tenure.token);
        });
        const Tenure* latest = nullptr;  // the one of those so far that lasted longest
        const Tenure* greatest = nullptr;
        for (const auto& tenure : tenures) {
            if (latest != nullptr && tenure.first <= latest->last)
                complain(lock, tenure.words() + " and " + latest->words() + " had it at once");
            if (greatest != nullptr && tenure.token <= greatest->token)
                complain(lock, "after " + greatest->words() + " came " + tenure.words());
            if (latest == nullptr || tenure.last > latest->last) latest = &tenure;
            if (greatest == nullptr || tenure.token > greatest->token) greatest = &tenure;
        }
    }

    void count(const std::vector<Tenure>& tenures) {
        verdict_.grants += tenures.size();
        if (verdict_.power_cuts == 0) return;
        verdict_.grants_after += static_cast<std::size_t>(std::ranges::count_if(
            tenures, [this](const auto& each) { return each.first > cut_at_; }));
    }

    void check_that_something_happened(Story story) {
        const auto demand = [this](std::size_t count, const char* what) {
            if (count == 0) verdict_.violations.push_back(std::string{"nothing shown: no "} + what);
        };
        demand(verdict_.grants, "grant");
        demand(verdict_.accepted, "accepted write");
        if (story == Story::power_cut) {
            demand(verdict_.power_cuts, "power cut");
            demand(verdict_.eras, "era");
            demand(verdict_.grants_after, "grant after the power cut");
            return;
        }
        demand(verdict_.losses, "lost hold");
        demand(verdict_.kills, "killed node");
        demand(verdict_.partitions, "partition");
    }

    void complain(const std::string& lock, const std::string& what) {
        verdict_.violations.push_back(escaped_name(lock) + ": " + what);
    }

    Verdict verdict_;
    std::map<std::string, std::vector<Tenure>> locks_;
    std::map<std::string, FencingToken> newest_;
    std::chrono::nanoseconds cut_at_{};
};

}  // namespace

Verdict judge(const std::vector<LogRecord>& records, Story story) {
    return Judge{}.judge(records, story);
}

}  // namespace mortise::cli
