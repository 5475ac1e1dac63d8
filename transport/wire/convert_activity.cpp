#include <algorithm>
#include <utility>

#include "core/locks/limits.hpp"
#include "transport/wire/checked_reading.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/convert_operation.hpp"

namespace mortise::transport {

namespace {

std::uint64_t ns_of(core::Nanoseconds time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

core::Nanoseconds time_of(std::uint64_t ns) {
    return core::Nanoseconds{std::min<std::uint64_t>(ns, core::Nanoseconds::max().count())};
}

void put_rates(const core::Rates& rates, wire::Rates::Builder to) {
    to.setLengthNs(ns_of(rates.length));
    to.setGrants(rates.grants);
    to.setReleases(rates.releases);
    to.setLosses(rates.losses);
    to.setWaitersMax(rates.waiters_max);
    to.setWaitMedianNs(ns_of(rates.wait.median));
    to.setWaitP99Ns(ns_of(rates.wait.p99));
    to.setHoldMedianNs(ns_of(rates.hold.median));
    to.setHoldP99Ns(ns_of(rates.hold.p99));
}

core::Rates get_rates(wire::Rates::Reader from) {
    return {time_of(from.getLengthNs()),
            from.getGrants(),
            from.getReleases(),
            from.getLosses(),
            from.getWaitersMax(),
            {time_of(from.getWaitMedianNs()), time_of(from.getWaitP99Ns())},
            {time_of(from.getHoldMedianNs()), time_of(from.getHoldP99Ns())}};
}

void put_hot_name(const core::HotName& hot, wire::HotName::Builder to) {
    to.setName(data_of(hot.name));
    to.setKind(static_cast<wire::NameKind>(hot.kind));
    to.setHolders(hot.holders);
    to.setWaiters(hot.waiters);
    to.setOldestWaitNs(ns_of(hot.oldest_wait));
}

core::HotName get_hot_name(CheckedReading& reading, wire::HotName::Reader from) {
    core::HotName hot;
    hot.name = reading.text(from.getName(), core::name_bytes_max, "HotName.name");
    hot.kind = reading.known(from.getKind(), core::last_record_kind, "HotName.kind");
    hot.holders = from.getHolders();
    hot.waiters = from.getWaiters();
    hot.oldest_wait = time_of(from.getOldestWaitNs());
    return hot;
}

void put_prefix(const core::PrefixView& prefix, wire::PrefixActivity::Builder to) {
    to.setPrefix(data_of(prefix.prefix));
    to.setHolders(prefix.holders);
    to.setWaiters(prefix.waiters);
    to.setContended(prefix.contended);
    to.setGrants(prefix.grants);
    to.setOldestWaitNs(ns_of(prefix.oldest_wait));
}

core::PrefixView get_prefix(CheckedReading& reading, wire::PrefixActivity::Reader from) {
    core::PrefixView prefix;
    prefix.prefix = reading.text(from.getPrefix(), core::name_bytes_max, "PrefixActivity.prefix");
    prefix.holders = from.getHolders();
    prefix.waiters = from.getWaiters();
    prefix.contended = from.getContended();
    prefix.grants = from.getGrants();
    prefix.oldest_wait = time_of(from.getOldestWaitNs());
    return prefix;
}

// As many as the reader takes.
unsigned put_count(std::size_t size, std::size_t max) {
    return static_cast<unsigned>(std::min(size, max));
}

void put_activity(const core::ActivityView& view, wire::ActivityAnswer::Builder answer) {
    auto to = answer.initActivity();
    to.setNode(view.node.raw());
    to.setCluster(data_of(view.cluster));
    to.setLeader(view.leader.raw());
    to.setMembers(view.members);
    to.setSessions(view.sessions);
    to.setNames(view.names);
    to.setWaiters(view.contention.waiters);
    to.setContended(view.contention.contended);
    to.setOldestWaitNs(ns_of(view.contention.oldest_wait));
    auto hottest = to.initHottest(put_count(view.hottest.size(), hot_names_max));
    for (unsigned i = 0; i < hottest.size(); ++i)
        put_hot_name(view.hottest[i], hottest[i]);
    const auto& shown = view.contention.prefixes;
    auto prefixes = to.initPrefixes(put_count(shown.size(), prefix_views_max));
    for (unsigned i = 0; i < prefixes.size(); ++i)
        put_prefix(shown[i], prefixes[i]);
    put_rates(view.recent, to.initRecent());
    auto slots = to.initSlots(put_count(view.slots.size(), rate_slots_max));
    for (unsigned i = 0; i < slots.size(); ++i)
        put_rates(view.slots[i], slots[i]);
}

core::ActivityView get_activity(CheckedReading& reading, wire::ActivityAnswer::Reader answer) {
    const auto from = answer.getActivity();
    core::ActivityView view;
    view.node = core::NodeId{from.getNode()};
    view.cluster = reading.text(from.getCluster(), text_bytes_max, "Activity.cluster");
    view.leader = core::NodeId{from.getLeader()};
    view.members = from.getMembers();
    view.sessions = from.getSessions();
    view.names = from.getNames();
    view.contention.waiters = from.getWaiters();
    view.contention.contended = from.getContended();
    view.contention.oldest_wait = time_of(from.getOldestWaitNs());
    reading.list(from.getHottest(), hot_names_max, "Activity.hottest",
                 [&](auto each) { view.hottest.push_back(get_hot_name(reading, each)); });
    reading.list(from.getPrefixes(), prefix_views_max, "Activity.prefixes",
                 [&](auto each) { view.contention.prefixes.push_back(get_prefix(reading, each)); });
    view.recent = get_rates(from.getRecent());
    reading.list(from.getSlots(), rate_slots_max, "Activity.slots",
                 [&](auto each) { view.slots.push_back(get_rates(each)); });
    return view;
}

}  // namespace

void write(const ActivityAnswer& answer, wire::ActivityAnswer::Builder to) {
    write_answer(answer, to, put_activity);
}

core::Result<ActivityAnswer> read(wire::ActivityAnswer::Reader from) {
    return read_answer(from, wire::ActivityAnswer::ACTIVITY, "ActivityAnswer", get_activity);
}

}  // namespace mortise::transport
