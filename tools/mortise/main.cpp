#include <csignal>

#include "tools/mortise/command_line.hpp"

int main(int argc, char** argv) {
    // A reader that went away is an error of the write, here and in sockets.
    std::signal(SIGPIPE, SIG_IGN);
    return mortise::cli::run_command_line(argc, argv);
}
