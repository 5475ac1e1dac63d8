#!/usr/bin/env python3
"""How ./dev bench --budget reads what perf has seen."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import budget  # noqa: E402

SEEN = """\
mortise-core 
\tffffffff81e00b01 __schedule+0x2a1 ([kernel.kallsyms])
\tffffffff81137e2d futex_wait+0x7d ([kernel.kallsyms])
\tffffffff8113a4d5 __x64_sys_futex+0x145 ([kernel.kallsyms])
\t    7f0d1c2a8e9f pthread_cond_wait (/usr/lib/x86_64-linux-gnu/libc.so.6)

bench_node 
\t    55d0a2c3f1aa mortise::core::LockMachine::apply(unsigned)+0x1a (/build/bench_node)

mortise-log 
\t    7f0d1c2a8e9f [unknown] (/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8.3)

"""


class Budget(unittest.TestCase):
    def test_each_look_has_its_thread_and_its_stack(self):
        seen = list(budget.looks(SEEN.splitlines()))
        self.assertEqual([thread for thread, _ in seen],
                         ["mortise-core", "bench_node", "mortise-log"])
        self.assertEqual(seen[0][1][2], ("__x64_sys_futex", "[kernel.kallsyms]"))
        self.assertEqual([budget.group_of(stack) for _, stack in seen],
                         ["kernel: futex", "state machine", "RocksDB, storage"])

    def test_the_function_that_runs_decides(self):
        for symbol, group in (("kj::Promise<void>::then", "KJ, Cap'n Proto"),
                              ("mortise::core::Raft::append_to_log", "Raft"),
                              ("mortise::core::decode_batch", "decode, encode"),
                              ("mortise::core::NodeCore::step", "node core"),
                              ("mortise::detail::Driver::handle", "embedding"),
                              ("operator new(unsigned long)", "allocation"),
                              ("mortise_asio::detail::scheduler::run", "Asio")):
            self.assertEqual(budget.group_of([(symbol, "bench_node")]), group, symbol)

    def test_the_kernel_without_a_call_is_an_interrupt(self):
        self.assertTrue(budget.group_of([("asm_sysvec_apic_timer_interrupt",
                                          "[kernel.kallsyms]")]).startswith("kernel: interrupts"))


if __name__ == "__main__":
    unittest.main()
