// history_check FILE...: can these histories of locks be explained? Exit code 0: yes, 1: no, 2:
// they cannot be read.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/check/history_check.hpp"
#include "tests/check/history_file.hpp"

namespace mortise::check {

namespace {

void print_window(const Verdict& verdict) {
    std::printf("UNEXPLAINABLE: name %s: %s\n", verdict.name.c_str(), verdict.why.c_str());
    for (const auto& call : verdict.window)
        std::printf("  line %zu: %s\n", call.line, to_line(call).c_str());
}

bool run(const char* file) {
    std::ifstream in{file};
    if (!in) throw BadHistory{"cannot be opened"};
    const auto calls = read_history(in);
    const auto began = std::chrono::steady_clock::now();
    const auto verdict = check(calls);
    const auto took = std::chrono::steady_clock::now() - began;
    if (!verdict.explained) print_window(verdict);
    std::printf("history_check: %s: %zu calls, %zu names, %zu states, %.2f s, %s\n", file,
                verdict.calls, verdict.names, verdict.states,
                std::chrono::duration<double>(took).count(),
                verdict.explained ? "explained" : "NOT EXPLAINED");
    return verdict.explained;
}

}  // namespace

}  // namespace mortise::check

int main(int count, char** words) {
    if (count < 2) {
        std::fputs("history_check FILE...\n", stderr);
        return 2;
    }
    bool explained = true;
    for (int i = 1; i < count; ++i) {
        try {
            explained = mortise::check::run(words[i]) && explained;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "history_check: %s: %s\n", words[i], error.what());
            return 2;
        }
    }
    return explained ? 0 : 1;
}
