// The records of all holds of this node's program, which may be a million.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/paged_set.hpp"
#include "embed/holds/hold_record.hpp"

namespace mortise::detail {

// The core thread has them. The thread that ends a lease, whatever the core thread is doing, finds
// here whose lease that was.
class HeldRecords {
public:
    struct OperationOf {
        core::OperationId operator()(const std::shared_ptr<HoldRecord>& one) const {
            return one->hold();
        }
    };
    using Records = core::PagedSet<std::shared_ptr<HoldRecord>, OperationOf>;

    // --- on the core thread, which needs no lock to read what no other thread changes

    [[nodiscard]] const Records& all() const { return records_; }
    void add(std::shared_ptr<HoldRecord> record) {
        const std::scoped_lock lock{mutex_};
        records_.insert(std::move(record));
    }
    // It must be here.
    std::shared_ptr<HoldRecord> take(core::OperationId hold) {
        const std::scoped_lock lock{mutex_};
        return records_.take(hold);
    }
    [[nodiscard]] Records take_all() {
        const std::scoped_lock lock{mutex_};
        return std::exchange(records_, {});
    }

    // --- on any thread

    [[nodiscard]] std::vector<std::shared_ptr<HoldRecord>> of(const Lease& lease) const {
        std::vector<std::shared_ptr<HoldRecord>> its;
        const std::scoped_lock lock{mutex_};
        for (const auto& one : records_) {
            if (one->lease().get() == &lease) its.push_back(one);
        }
        return its;
    }

private:
    mutable std::mutex mutex_;
    Records records_;
};

}  // namespace mortise::detail
