// The bytes of log entries, as every replica applies them: what the codec decodes it encodes to the
// same bytes, and the lock machine is consistent and can be saved and loaded after each of them.
#include <vector>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/codec/state_sum_codec.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/machine/machine_loader.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace mortise::fuzz {
namespace {

using namespace core;

// In a format of the builder's choice, and in that of the bytes.
void check_codec(const Bytes& bytes, const std::vector<Command>& commands) {
    BatchBuilder builder;
    for (const auto& command : commands)
        builder.add(command);
    FUZZ_CHECK(builder.count() == commands.size());
    const auto written = builder.take(format_of(bytes));
    const auto again = decode_batch(written);
    FUZZ_CHECK(again && *again == commands);
    builder.add_encoded(commands_of(bytes), commands.size(), format_of(bytes), commands.size());
    const auto copied = decode_batch(builder.take(format_of(bytes)));
    FUZZ_CHECK(copied && *copied == commands);
}

void check_others(const Bytes& bytes) {
    if (const auto configuration = decode_configuration(bytes)) {
        const auto written = encode_configuration(*configuration);
        FUZZ_CHECK(decode_configuration(written) == configuration);
    }
    if (const auto sum = decode_state_sum(bytes)) FUZZ_CHECK(encode_state_sum(*sum) == bytes);
}

// A machine that is loaded from the saved rows saves the same rows.
void check_rows(LockMachine& machine, std::map<std::string, std::string>& rows, LogIndex at) {
    for (auto& row : machine.take_changed_rows()) {
        if (row.value) {
            rows[row.key] = *std::move(row.value);
        } else {
            rows.erase(row.key);
        }
    }
    MachineLoader loader;
    for (const auto& [key, value] : rows)
        FUZZ_CHECK(loader.add(key, value));
    auto loaded = loader.finish(at);
    FUZZ_CHECK(loaded);
    loaded->check_invariants();
    static_cast<void>(loaded->take_changed_rows());
    FUZZ_CHECK(loaded->rows_sum() == machine.rows_sum());
}

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::core;
    mortise::fuzz::Choices choices{data, size};
    LockMachine machine;
    std::map<std::string, std::string> rows;
    LogIndex index;
    while (!choices.is_empty()) {
        const Bytes bytes{choices.piece()};
        mortise::fuzz::check_others(bytes);
        const auto commands = decode_batch(bytes);
        if (!commands) continue;
        mortise::fuzz::check_codec(bytes, *commands);
        index = index.next();
        Outcomes outcomes;
        machine.apply(index, *commands, outcomes);
        machine.check_invariants();
    }
    if (index.is_set()) mortise::fuzz::check_rows(machine, rows, index);
    return 0;
}
