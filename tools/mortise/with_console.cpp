// A program with the console: it links mortise::console.
#include <memory>
#include <utility>

#include "tools/mortise/node_console.hpp"
#include <mortise/console.hpp>

namespace mortise::cli {

namespace {

ConsoleOptions options_of(const ConsoleChoice& choice) {
    ConsoleOptions options;
    options.listen = choice.listen->empty() ? options.listen : *choice.listen;
    options.allow_remote = choice.allow_remote;
    if (choice.allow_break) options.allow_break = true;
    options.hosts = choice.hosts;
    return options;
}

}  // namespace

bool has_console() {
    return true;
}

void check_console(const ConsoleChoice& choice) {
    if (choice.listen) Console::check(options_of(choice));
}

OpenConsole open_console(const ConsoleChoice& choice, const Config& config, Node& node) {
    if (!choice.listen) return {};
    auto options = options_of(choice);
    options.tls = config.tls;
    options.log = config.log;
    auto console = std::make_shared<Console>(node, std::move(options));
    auto url = console->url();
    return {std::move(console), std::move(url)};
}

}  // namespace mortise::cli
