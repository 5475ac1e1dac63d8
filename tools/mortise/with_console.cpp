// A program with the console: it links mortise::console.
#include <memory>
#include <utility>

#include "tools/mortise/node_console.hpp"
#include "tools/mortise/say.hpp"
#include <mortise/console.hpp>

namespace mortise::cli {

namespace {

ConsoleOptions options_of(const NodeCommand& command) {
    ConsoleOptions options;
    options.listen = command.console->empty() ? options.listen : *command.console;
    options.allow_remote = command.console_remote;
    if (command.console_break) options.allow_break = true;
    options.hosts = command.console_hosts;
    return options;
}

}  // namespace

bool has_console() {
    return true;
}

void check_console(const NodeCommand& command) {
    if (command.console) Console::check(options_of(command));
}

// Its address is reported on stderr: stdout has one line, when the node is ready.
OpenConsole open_console(const NodeCommand& command, const Config& config, Node& node) {
    if (!command.console) return nullptr;
    auto options = options_of(command);
    options.tls = config.tls;
    options.log = config.log;
    auto console = std::make_shared<Console>(node, std::move(options));
    say("console at " + console->url());
    return console;
}

}  // namespace mortise::cli
