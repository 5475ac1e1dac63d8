// An observer's picture of its names (S46): what it knows after everything that it was told. It is
// made from that alone, and compared with the state of a machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/machine/lock_machine.hpp"
#include "core/observe/observed.hpp"

namespace mortise::spec {

class Replay {
public:
    // These return what is wrong with it; empty if nothing is. Changes are in the order of their
    // positions, and each fits the changes before it.
    std::string take(const core::Observed& told);
    std::string take(core::Position at, const core::NameChange& change);

    // The whole state was told since the last gap.
    [[nodiscard]] bool is_complete() const { return is_complete_; }
    // Where another observer continues; not set before the state is complete.
    [[nodiscard]] core::Position position() const { return position_; }
    // The names that differ from the machine, whose picture must be complete; empty if none does.
    [[nodiscard]] std::string differs_from(const core::LockMachine& machine,
                                           const core::ObservedNames& names) const;

private:
    struct Name {
        std::vector<core::Grant> holders;  // without time limits
        std::optional<core::LockValue> value;

        [[nodiscard]] bool is_nothing() const { return holders.empty() && !value; }
        friend bool operator==(const Name&, const Name&) = default;
    };
    using Names = std::map<std::string, Name>;

    std::string on(const core::Gap& gap, core::Position at);
    std::string on(const core::NameState& state, core::Position at);
    std::string on(const core::StateComplete& complete, core::Position at);
    std::string on(const core::NameChange& change, core::Position at);
    std::string changed(Name& name, const core::NameChange& change);
    std::string granted(Name& name, const core::NameChange& change);
    std::string changed_hold(Name& name, const core::NameChange& change);
    static std::string changed_value(Name& name, const core::NameChange& change);

    Names names_;
    core::Position position_;
    bool is_complete_ = true;  // nothing has changed since the beginning of the log
};

}  // namespace mortise::spec
