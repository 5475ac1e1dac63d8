// The names for which somebody waits: how many, for how long, and which are the most wanted. Each
// change of a queue costs O(log n) of the contended names, and a question nothing more than its
// answer.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"

namespace mortise::core {

// The requests that wait for one name: their number, and the index of the oldest.
struct Waiting {
    std::size_t waiters = 0;
    LogIndex oldest;

    friend bool operator==(const Waiting&, const Waiting&) = default;
};

class ContendedNames {
public:
    // The names are in so many groups, which the caller numbers from zero.
    explicit ContendedNames(std::size_t groups) : groups_(groups) {}

    // What is true of the name from now on. Without waiters it is not contended any more. A name is
    // always in the same group.
    void set(std::string_view name, std::size_t group, Waiting waiting);

    [[nodiscard]] std::size_t size() const { return names_.size(); }
    // The number of waiting requests for all names together. A request that waits for several names
    // counts once for each of them.
    [[nodiscard]] std::size_t waiters() const { return waiters_; }
    // The same two numbers for one group.
    [[nodiscard]] std::size_t size(std::size_t group) const { return groups_[group].oldest.size(); }
    [[nodiscard]] std::size_t waiters(std::size_t group) const { return groups_[group].waiters; }
    // The oldest request that waits; empty if none does.
    [[nodiscard]] std::optional<LogIndex> oldest() const;
    [[nodiscard]] std::optional<LogIndex> oldest(std::size_t group) const;
    // The names that begin with `prefix` and have the most waiters, at most `max`; of equal ones
    // the first in byte order. Looks at as many names as take about a millisecond.
    [[nodiscard]] std::vector<std::pair<std::string, Waiting>> hottest(
        std::size_t max, std::string_view prefix = {}) const;

private:
    struct Contended {
        std::size_t group = 0;
        Waiting waiting;
    };
    struct Group {
        std::size_t waiters = 0;
        std::set<std::pair<LogIndex, std::string_view>> oldest;
    };
    struct Rank {
        std::size_t waiters = 0;
        std::string_view name;
        friend bool operator<(const Rank& a, const Rank& b) {
            return a.waiters != b.waiters ? a.waiters > b.waiters : a.name < b.name;
        }
    };
    using Names = std::map<std::string, Contended, std::less<>>;

    void begin(std::string_view name, std::size_t group, Waiting waiting);
    void end(Names::iterator contended);

    Names names_;
    std::set<Rank> ranks_;  // the names of these sets are those of names_
    std::vector<Group> groups_;
    std::size_t waiters_ = 0;
};

}  // namespace mortise::core
