// Measures parts of the core and the driver alone: ./dev bench --micro.
//   core_micro [--benchmark_...]     time and allocations, by Google Benchmark
//   core_micro run NAME RUNS         only runs it, for a program that counts instructions
//   core_micro list                  the names
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/bench/counting_allocator.hpp"
#include "tests/bench/micro/tasks.hpp"

namespace mortise::bench {

namespace {

std::vector<NamedTask> all_tasks() {
    std::vector<NamedTask> all;
    for (auto tasks : {machine_tasks(), core_tasks(), driver_tasks()})
        all.insert(all.end(), tasks.begin(), tasks.end());
    return all;
}

// Buffers have grown, and caches are warm.
constexpr int warm_up = 200;

void measure(benchmark::State& state, const NamedTask& named) {
    const auto task = named.make();
    for (int i = 0; i < warm_up; ++i)
        task->run();
    const auto before = allocations_so_far();
    while (state.KeepRunning())
        task->run();
    const auto grown = allocations_so_far() - before;
    using benchmark::Counter;
    state.counters["cycles"] = static_cast<double>(named.cycles);
    state.counters["allocations"] =
        Counter(static_cast<double>(grown.count), Counter::kAvgIterations);
    state.counters["bytes"] = Counter(static_cast<double>(grown.bytes), Counter::kAvgIterations);
}

int run_alone(const std::string& name, int runs) {
    for (const auto& named : all_tasks()) {
        if (named.name != name) continue;
        const auto task = named.make();
        for (int i = 0; i < warm_up + runs; ++i)
            task->run();
        return 0;
    }
    throw std::invalid_argument{"there is no task " + name};
}

int run(int argc, char** argv) {
    const std::vector<std::string> words{argv + 1, argv + argc};
    if (words.size() == 3 && words[0] == "run") return run_alone(words[1], std::stoi(words[2]));
    for (const auto& named : all_tasks()) {
        if (words == std::vector<std::string>{"list"}) {
            std::printf("%s\n", named.name.c_str());
            continue;
        }
        benchmark::RegisterBenchmark(named.name.c_str(),
                                     [named](benchmark::State& state) { measure(state, named); });
    }
    if (words == std::vector<std::string>{"list"}) return 0;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) {
    try {
        return mortise::bench::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "core_micro: %s\n", error.what());
        return 1;
    }
}
