#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
"""The conduit ofi: calls of libfabric that fail, providers, little of everything, messages counted,
memory under a flood.

Hosts are pretended (TOMBOLO_PLACES), the provider is the one that the conduit takes by itself, for
atomic operations of a provider tcp;ofi_rxm. Each case says what the job is to end with and what is
to be said; none may take longer than LIMIT_S.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from confine import SKIP  # noqa: E402
from lab import build_folder  # noqa: E402

LIMIT_S = 120
WHOLE = bool(os.environ.get("TMB_TEST_WHOLE"))  # `make test-all`: nothing is left out
MANY = 9 if WHOLE else 3  # of similar runs
SHARE = "1" if WHOLE else "18"  # of the pairs of values of atomics: one in so many
RXM = "tcp;ofi_rxm"
WAITS_MAX = 2000  # of a rank that sleeps for three seconds, woken each 10 ms
GROWTH_KIB = 4096  # at most, under a flood that takes 20 MiB and more to keep
HANDED = re.compile(r"ofi: rank 0 handed over send=(\d+) inject=(\d+) write=(\d+) read=(\d+)")
AT_START = ("getinfo", "fabric", "domain", "av_open", "cq_open", "endpoint", "ep_bind",
            "enable", "getname", "av_insert", "recv")


def run(settings, program="conformance/rma_blocking", ranks=2, folder=None, arguments=()):
    """Runs a program. Returns its exit code and what it said."""
    environment = {**os.environ, "TOMBOLO_CONDUIT": "ofi", "TOMBOLO_PLACES": "2",
                   "TOMBOLO_OFI_PROVIDER": "", "TMB_TEST_SHARE": SHARE, **settings}
    build = build_folder().resolve()
    command = [build / "bin/tombolo", "run", "-n", str(ranks), build / "tests" / program,
               *map(str, arguments)]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False,
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=LIMIT_S)
    return done.returncode, done.stdout.decode(errors="replace")


def handed_over(*arguments, program="net/ofi_signals", ranks=2, **settings):
    """What rank 0 of a program hands over: [sends, injects, writes, reads]. Without another
    program it puts with a signal."""
    code, text = run({"TOMBOLO_TEST_OFI_FAULT": "count", **settings}, program, ranks,
                     arguments=arguments)
    found = HANDED.search(text)
    if code or not found:
        raise AssertionError(f"exit code {code}: {text}")
    return [int(number) for number in found.groups()]


def pairs(first, second):
    """Pairs of two lists: all, or each element of the longer one with one of the other in turn."""
    if WHOLE:
        return [(one, two) for one in first for two in second]
    count = max(len(first), len(second))
    return [(first[i % len(first)], second[i % len(second)]) for i in range(count)]


def orphans():
    """Regions of libfabric's provider shm (PID:UID:NUMBER) whose process has ended."""
    regions = [name for name in os.listdir("/dev/shm") if re.fullmatch(r"\d+:\d+:\d+", name)]
    return {name for name in regions if not Path("/proc", name.split(":")[0]).exists()}


class Ofi(unittest.TestCase):
    """Cases."""

    def test_nothing_is_left_in_dev_shm(self):
        left = set()
        for _ in range(3):  # other jobs of this machine may leave some meanwhile
            before = orphans()
            code, text = run({"TOMBOLO_OFI_PROVIDER": "shm"})
            if "no usable provider" in text:
                self.skipTest(text)
            self.assertEqual(code, 0, text)
            left = orphans() - before
            if not left:
                break
        self.assertEqual(left, set())

    def test_a_call_at_the_start_fails(self):
        for call in AT_START:
            with self.subTest(call=call):
                code, text = run({"TOMBOLO_TEST_OFI_FAULT": f"{call}@1"})
                self.assertNotEqual(code, 0, text)
                self.assertIn("ofi: ", text)

    def test_a_call_of_a_job_that_runs_fails(self):
        for call in ("send@3", "inject@30", "cq_read@100"):
            with self.subTest(call=call):
                code, text = run({"TOMBOLO_TEST_OFI_FAULT": call, "TOMBOLO_PEER_TIMEOUT": "2",
                                  "TOMBOLO_OFI_PROVIDER": RXM})  # takes 64 bytes inline, net 128
                self.assertNotEqual(code, 0, text)

    def test_no_room_at_random(self):
        code, text = run({"TOMBOLO_TEST_OFI_FAULT": "send=30,inject=30,write=30,read=30,recv=30"})
        self.assertEqual(code, 0, text)

    def test_memory_that_cannot_be_registered_is_reached_by_messages(self):
        code, text = run({"TOMBOLO_TEST_OFI_FAULT": "mr_reg@1"})
        self.assertEqual(code, 0, text)

    def test_calls_that_the_job_can_do_without(self):
        for call in ("write@1", "read@1", "write@5,read@3", "close@1", "trywait@1", "cq_readerr@1",
                     "cancel@1", "mr_enable@1"):
            with self.subTest(call=call):
                code, text = run({"TOMBOLO_TEST_OFI_FAULT": call, "TOMBOLO_PEER_TIMEOUT": "2"})
                self.assertEqual(code, 0, text)

    def test_accesses_that_fail_after_they_were_taken(self):
        for program in ("rma_blocking", "rma_nb"):
            with self.subTest(program=program):
                code, text = run({"TOMBOLO_TEST_OFI_FAULT": "spoil=20,count",
                                  "TOMBOLO_PEER_TIMEOUT": "2"}, f"conformance/{program}", 4)
                self.assertEqual(code, 0, text)

    def test_long_blocks_of_collectives_are_put_in_private_memory(self):
        faults = [(3, {"TOMBOLO_TEST_OFI_FAULT": fault})
                  for fault in ("spoil=20,write=20", "mr_reg=50")]
        chain = {"TOMBOLO_COLL_ALG": "broadcast=chain:2:131072", "TOMBOLO_PLACES": "3"}
        for ranks, settings in ((2, {}), (5, {"TOMBOLO_PLACES": "cyclic:2"}), (3, chain), *faults):
            with self.subTest(ranks=ranks, settings=settings):
                code, text = run({"TOMBOLO_TEST_COLL_BOARD_MAX": "0", **settings},
                                 "inside/coll_direct", ranks)
                self.assertEqual(code, 0, text)

    def test_operations_end_while_their_target_computes(self):
        for provider, program in pairs(("", RXM, "sockets", "shm"),
                                       ("computing", "computing_mix")):
            with self.subTest(provider=provider, program=program):
                code, text = run({"TOMBOLO_OFI_PROVIDER": provider}, f"conformance/{program}")
                if "no usable provider" not in text:
                    self.assertEqual(code, 0, text)

    def test_what_is_left_to_a_client_that_computes(self):
        for case, credits in pairs(("puts", "tagged", "longs", "flood"), ("1", "8", "256")):
            with self.subTest(case=case, credits=credits):
                code, text = run({"TOMBOLO_TEST_OFI_CREDITS": credits,
                                  "TOMBOLO_PLACES": "cyclic:3"},
                                 "conformance/computing_later", 3, arguments=(case,))
                self.assertEqual(code, 0, text)

    def test_collectives_end_while_a_member_computes(self):
        for credits in ("1", "8", "256"):
            with self.subTest(credits=credits):
                code, text = run({"TOMBOLO_TEST_OFI_CREDITS": credits,
                                  "TOMBOLO_PLACES": "cyclic:3"},
                                 "conformance/computing_coll", 3)
                self.assertEqual(code, 0, text)

    def test_long_messages_behind_short_ones_with_little_credit(self):
        for credits in ("1", "2", "8", "64"):
            with self.subTest(credits=credits):
                code, text = run({"TOMBOLO_TEST_OFI_CREDITS": credits}, "conformance/am_credit")
                self.assertEqual(code, 0, text)

    def test_a_provider_that_progresses_by_itself_needs_no_thread_of_ours(self):
        code, text = run({"TOMBOLO_OFI_PROVIDER": "sockets", "TOMBOLO_OFI_ATOMICS": "yes",
                          "TOMBOLO_PROGRESS_SHARE": "0"}, "conformance/computing",
                         arguments=("atomics",))
        if "no usable provider" not in text:
            self.assertEqual(code, 0, text)

    def test_atomics_by_the_provider(self):
        for provider in (RXM, "shm"):
            settings = {"TOMBOLO_OFI_PROVIDER": provider, "TOMBOLO_OFI_ATOMICS": "yes",
                        "TOMBOLO_TEST_OFI_FAULT": "count", "TOMBOLO_PLACES": "cyclic:2"}
            for program, ranks in (("ad_ops", 3), ("computing", 2)):
                with self.subTest(provider=provider, program=program):
                    code, text = run(settings, f"conformance/{program}", ranks)
                    if "no usable provider" in text:
                        continue
                    self.assertEqual(code, 0, text)
                    self.assertRegex(text, r"atomic=[1-9]")  # not by messages

    def test_atomics_by_the_provider_find_little_room(self):
        for more in ({"TOMBOLO_TEST_OFI_FAULT": "fetch_atomic=50,compare_atomic=50,send=20"},
                     {"TOMBOLO_TEST_OFI_MR_LOCAL": "1"}):
            with self.subTest(more=more):
                code, text = run({"TOMBOLO_OFI_PROVIDER": RXM, "TOMBOLO_OFI_ATOMICS": "yes",
                                  **more}, "conformance/ad_ops", 3)
                self.assertEqual(code, 0, text)

    def test_an_atomic_that_the_provider_refuses_is_named(self):
        code, text = run({"TOMBOLO_OFI_PROVIDER": RXM, "TOMBOLO_OFI_ATOMICS": "yes",
                          "TOMBOLO_TEST_OFI_FAULT": "fetch_atomic@3"}, "conformance/ad_ops")
        self.assertNotEqual(code, 0, text)
        for word in ("atomic operation ", " on type ", RXM, "TOMBOLO_OFI_ATOMICS=no"):
            self.assertIn(word, text)

    def test_atomics_on_memory_that_cannot_be_registered_are_refused(self):
        code, text = run({"TOMBOLO_OFI_PROVIDER": RXM, "TOMBOLO_OFI_ATOMICS": "yes",
                          "TOMBOLO_TEST_OFI_FAULT": "mr_reg@1"}, "conformance/ad_ops")
        self.assertNotEqual(code, 0, text)
        self.assertIn("TOMBOLO_OFI_ATOMICS=no", text)

    def test_a_domain_that_the_provider_lacks_stays_with_the_processor(self):
        code, text = run({"TOMBOLO_OFI_PROVIDER": RXM, "TOMBOLO_OFI_ATOMICS": "yes",
                          "TOMBOLO_TEST_OFI_FAULT": "query_atomic@1,count"}, "conformance/ad_ops")
        self.assertEqual(code, 0, text)
        self.assertNotRegex(text, r"atomic=[1-9]")

    def test_atomics_find_little_room(self):
        code, text = run({"TOMBOLO_TEST_OFI_FAULT": "send=30,inject=30",
                          "TOMBOLO_TEST_OFI_CREDITS": "1",
                          "TOMBOLO_TEST_OFI_RECEIVES": "2", "TOMBOLO_TEST_OFI_SENDS": "4"},
                         "conformance/ad_ops", 3)
        self.assertEqual(code, 0, text)

    def test_no_queue_with_a_descriptor(self):
        code, text = run({"TOMBOLO_TEST_OFI_FAULT": "wait_fd@1"})
        self.assertEqual(code, 0, text)

    def test_a_rank_that_waits_sleeps(self):
        """On crowded processors a rank now and then begins to wait ten times as often with rxm:
        the best of three."""
        for provider in ("", RXM):
            with self.subTest(provider=provider):
                most = WAITS_MAX
                for _ in range(3):
                    code, text = run({"TOMBOLO_OFI_PROVIDER": provider,
                                      "TOMBOLO_TEST_OFI_FAULT": "count"}, "conformance/far_sleep")
                    self.assertEqual(code, 0, text)
                    waits = [int(times) for times in re.findall(r"began to wait (\d+) times", text)]
                    self.assertEqual(len(waits), 2, text)
                    most = min(most, max(waits))
                    if most < WAITS_MAX:
                        break
                self.assertLess(most, WAITS_MAX, text)

    def test_the_provider_over_tcp_that_is_taken(self):
        code, text = run({"TOMBOLO_OFI_LIST_DEVICES": "1"}, "conformance/am_forms")
        self.assertEqual(code, 0, text)
        listed = re.findall(r"provider (\S+), device", text)
        over_tcp = [name for name in ("tcp", "net", RXM) if name in listed]
        if listed[0] not in over_tcp:
            self.skipTest(text)  # a network in hardware
        self.assertEqual(listed[0], over_tcp[0], text)
        self.assertRegex(text, rf"provider {listed[0]}, device \S+: taken")

    def test_names_of_other_implementations(self):
        code, text = run({"TOMBOLO_OFI_PROVIDER": "", "GASNET_OFI_PROVIDER": "sockets",
                          "GASNET_OFI_DEVICE": "lo", "GASNET_OFI_SPAWNER": "ssh",
                          "GASNET_OFI_MAX_MEDIUM": "8192", "GASNET_OFI_NUM_BBUFS": "8",
                          "GASNET_OFI_NUM_RECEIVE_BUFFS": "8", "GASNET_OFI_RMA_POLL_FREQ": "32",
                          "GASNET_OFI_NUM_INITIAL_RECV_BUFFS": "4",
                          "GASNET_OFI_INJECT_LIMIT": "64", "GASNET_OFI_LIST_DEVICES": "1"},
                         "conformance/am_forms")  # few messages: `sockets` is slow under load
        self.assertEqual(code, 0, text)
        self.assertIn("provider sockets, device lo: taken", text)
        self.assertNotIn("unknown", text)
        self.assertEqual(text.count("provider "), 1, text)
        wrong, text = run({"GASNET_OFI_DEVICE": "no-such-device"})
        self.assertNotEqual(wrong, 0, text)
        wrong, text = run({"GASNET_OFI_NUM_BBUFS": "many"})
        self.assertIn("GASNET_OFI_NUM_BBUFS", text)

    def test_atomics_are_reported(self):
        command = [build_folder().resolve() / "bin/tombolo", "info"]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()
        self.assertIn("atomics by the owner's processor", text)

    def test_provider_that_does_not_exist(self):
        code, text = run({"TOMBOLO_OFI_PROVIDER": "pigeon"})
        self.assertNotEqual(code, 0, text)
        self.assertIn("TOMBOLO_OFI_PROVIDER=pigeon", text)
        self.assertIn("tombolo info", text)

    def test_fault_that_is_not_understood(self):
        code, text = run({"TOMBOLO_TEST_OFI_FAULT": "sned@1"})
        self.assertNotEqual(code, 0, text)
        self.assertIn('"sned@1" is not', text)

    def test_little_of_everything(self):
        code, text = run({"TOMBOLO_TEST_OFI_CREDITS": "1", "TOMBOLO_TEST_OFI_INJECT": "0",
                          "TOMBOLO_TEST_OFI_RECEIVES": "2", "TOMBOLO_TEST_OFI_SENDS": "4",
                          "TOMBOLO_TEST_OFI_MR_LOCAL": "1"}, ranks=4)
        self.assertEqual(code, 0, text)

    def test_one_credit(self):
        code, text = run({"TOMBOLO_TEST_OFI_CREDITS": "1"}, "conformance/am_immediate")
        self.assertEqual(code, 0, text)

    def test_a_rank_that_does_not_poll(self):
        code, text = run({}, "conformance/event_nopoll", 4)
        self.assertEqual(code, 0, text)

    def test_memory_of_the_provider(self):
        for program in ("segment_large", "coll_memory"):
            with self.subTest(program=program):
                code, text = run({}, f"conformance/{program}", 4)
                self.assertEqual(code, 0, text)

    def test_a_put_with_a_signal_is_one_message(self):
        for size in (1, 4096, 65536 - 128, 8)[:MANY]:
            with self.subTest(size=size):
                few, many = handed_over(50, size), handed_over(350, size)
                more = [b - a for a, b in zip(few, many)]
                self.assertEqual(sum(more[:2]), 300, (few, many))
                self.assertEqual(more[2:], [0, 0], (few, many))

    def test_a_long_put_with_a_signal_is_a_write_and_a_message(self):
        for form in ((), ("blocking",)):
            with self.subTest(form=form):
                few, many = handed_over(20, 200000, *form), handed_over(70, 200000, *form)
                more = [b - a for a, b in zip(few, many)]
                self.assertEqual((sum(more[:2]), *more[2:]), (50, 50, 0), (few, many))

    def test_device_memory_by_the_provider(self):
        by_provider = {"TOMBOLO_OFI_PROVIDER": "shm", "TOMBOLO_OFI_HMEM": "1",
                       "MK_SIM_NETWORK": "1", "TOMBOLO_TEST_OFI_FAULT": "count"}
        for program in ("mk_signal", "mk_par", "vis_device", "mk_stream", "coll_device")[:MANY]:
            with self.subTest(program=program):
                code, text = run(by_provider, f"conformance/{program}", 5)
                self.assertEqual(code, 0, text)
        # ... where both sides can; else through memory of the host. The rest is host to host.
        accesses = []
        for off in ({}, {"MK_SIM_NETWORK": ""}, {"TOMBOLO_OFI_HMEM": "0"}):
            with self.subTest(off=off):
                code, text = run({**by_provider, **off}, "conformance/mk_rma", 3)
                found = HANDED.search(text)
                self.assertTrue(code == 0 and found, text)
                accesses.append(sum(int(number) for number in found.groups()[2:]))
        self.assertGreater(accesses[0], 2 * max(accesses[1:]), accesses)
        code, text = run({**by_provider, "TOMBOLO_OFI_PROVIDER": ""},
                         "conformance/mk_rma", 3)
        self.assertTrue(code == 0 and text.count("has no FI_HMEM") == 1, text)

    def test_short_messages_and_puts_leave_together(self):
        for form in ("puts", "messages", "kilobytes", "mixed"):
            for gather in (0, 2):
                with self.subTest(form=form, gather=gather):
                    few, many = (handed_over(count, form, program="net/ofi_shorts",
                                             TOMBOLO_TEST_OFI_GATHER=str(gather))
                                 for count in (200, 1200))
                    more = sum(many[:3]) - sum(few[:3])
                    if gather == 0:
                        self.assertGreaterEqual(more, 1000, (few, many))
                    elif form != "mixed":
                        self.assertLess(more, 125, (few, many))

    def test_messages_to_several_ranks_leave_together(self):
        few, many = (handed_over(count, "turns", program="net/ofi_shorts", ranks=4,
                                 TOMBOLO_PLACES="4") for count in (100, 1100))
        self.assertLess(sum(many) - sum(few), 1000, (few, many))  # 3,000 messages more
        # The time for which one rank has no credit is not the client's towards the others, either.
        few, many = (min(sum(handed_over(count, "turns", program="net/ofi_shorts", ranks=4,
                                         TOMBOLO_PLACES="4", TOMBOLO_TEST_OFI_CREDITS="4"))
                         for _ in range(MANY)) for count in (100, 3100))
        self.assertLess(many - few, 4600, (few, many))  # of 9,000

    def test_a_rank_that_owes_only_credit_is_drained(self):
        """The line of counts is printed when a rank is drained. Most credit finds no room, and its
        receiver leaves meanwhile."""
        for _ in range(4):
            handed_over(300, "turns", program="net/ofi_shorts", ranks=4, TOMBOLO_PLACES="4",
                        TOMBOLO_TEST_OFI_CREDITS="64", TOMBOLO_TEST_OFI_FAULT="count,inject=98")

    def test_a_put_returns_when_its_source_is_read(self):
        for settings in ({}, {"TOMBOLO_TEST_OFI_MR_LOCAL": "1"}):
            for size in (8, 300, 10000, 65536):
                with self.subTest(settings=settings, size=size):
                    code, text = run({"TOMBOLO_PROGRESS_SHARE": "0", **settings},
                                     "net/ofi_absent", arguments=(size,))
                    self.assertEqual(code, 0, text)

    def test_what_waits_leaves_while_its_sender_computes(self):
        for gather in ("1", "2"):
            with self.subTest(gather=gather):
                code, text = run({"TOMBOLO_TEST_OFI_GATHER": gather}, "net/ofi_shorts",
                                 arguments=(20, "silent"))
                self.assertEqual(code, 0, text)

    def test_batches_find_little_room(self):
        for more in ({"TOMBOLO_TEST_OFI_FAULT": "send=50,inject=30,write=30"},
                     {"TOMBOLO_TEST_OFI_CREDITS": "1", "TOMBOLO_TEST_OFI_RECEIVES": "2",
                      "TOMBOLO_TEST_OFI_SENDS": "4", "TOMBOLO_TEST_OFI_FAULT": "send=30"},
                     {"TOMBOLO_TEST_OFI_INJECT": "0", "TOMBOLO_TEST_OFI_MR_LOCAL": "1"}):
            for form in ("puts", "messages", "kilobytes", "mixed"):
                with self.subTest(more=more, form=form):
                    code, text = run({"TOMBOLO_TEST_OFI_GATHER": "2", **more}, "net/ofi_shorts",
                                     arguments=(2000, form))
                    self.assertEqual(code, 0, text)

    def test_memory_under_a_flood(self):
        for count, size in ((20000, 1024), (50000, 8), (400, 65000)):
            with self.subTest(count=count, size=size):
                code, text = run({}, "net/ofi_flood", arguments=(count, size))
                self.assertEqual(code, 0, text)
                self.assertIn(f"{count + 2000} arrived, 0 wrong", text)
                grown = [int(kib) for kib in re.findall(r"grew (-?\d+) KiB", text)]
                self.assertEqual(len(grown), 2, text)
                self.assertLess(max(grown), GROWTH_KIB, text)

    def test_no_file_is_left_by_a_rank_that_dies(self):
        with tempfile.TemporaryDirectory() as folder:
            code, text = run({"TOMBOLO_TEST_OFI_FAULT": "enable@1"}, folder=folder)
            self.assertNotEqual(code, 0, text)
            self.assertEqual(os.listdir(folder), [])

    def test_providers_are_listed(self):
        command = [build_folder() / "bin/tombolo", "info"]
        text = subprocess.run(command, capture_output=True, check=True, timeout=LIMIT_S).stdout
        self.assertIn("tcp;ofi_rxm", text.decode())


if __name__ == "__main__":
    if not (build_folder() / "lib/tombolo/tombolo-net-ofi.so").exists():
        print("skipped: the conduit ofi is not built (no libfabric-dev)")
        sys.exit(SKIP)
    unittest.main()
