#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Unit test of the scripts that judge other tests: each must fail when it should."""

import argparse
import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_symbols
import run_tests

HERE = Path(__file__).resolve().parent
REPORT = """<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail"/>
<testcase name="c" status="notrun"><system-out>a line
skipped: no device
</system-out></testcase><testcase name="d" status="run"/></testsuite>"""
ROWS = (
    "gex_f\tfunction\tgasnetex.h\t01\ngex_m\tfunction\tgasnetex.h\t01\n"
    "gex_T\ttype\tgasnetex.h\t01\ngex_T.field\tfield\tgasnetex.h\t01\n"
    "GEX_ONE\tconst\tgasnetex.h\t01\n"
)
HEADER = "#define gex_m(x) (x)\nint gex_f(void);\ntypedef struct { int field; } gex_T;\n"


class Expect(unittest.TestCase):
    """scripts/expect.py: exit code and text of a command."""

    def run_expect(self, options, shell):
        command = [sys.executable, str(HERE / "expect.py"), *options, "--", "sh", "-c", shell]
        return subprocess.run(command, capture_output=True, check=False).returncode

    def test_codes(self):
        self.assertEqual(self.run_expect(["--code=3"], "exit 3"), 0)
        self.assertEqual(self.run_expect(["--code=3"], "exit 4"), 1)
        self.assertEqual(self.run_expect(["--code=fail"], "exit 4"), 0)
        self.assertEqual(self.run_expect(["--code=fail"], "exit 0"), 1)
        self.assertEqual(self.run_expect(["--code=any"], "exit 9"), 0)
        self.assertEqual(self.run_expect(["--code=137"], "kill -9 $$"), 0)
        self.assertEqual(self.run_expect(["--code=fail"], "exit 77"), 77)

    def test_match(self):
        self.assertEqual(self.run_expect(["--match=ab+c"], "echo xabbc"), 0)
        self.assertEqual(self.run_expect(["--match=ab+c"], "echo ac"), 1)
        self.assertEqual(self.run_expect(["--match=ab+c"], "echo abc >&2"), 0)
        self.assertEqual(self.run_expect(["--match=abc"], "echo abc; exit 1"), 1)


class Runner(unittest.TestCase):
    """scripts/run_tests.py: counting."""

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.xml"
            self.assertEqual(run_tests.read_report(path), {})
            path.write_text(REPORT)
            total = run_tests.sum_of(run_tests.read_report(path).values())
            self.assertEqual(str(total), "2 passed, 1 failed, 1 skipped")
            self.assertEqual(total.why, {"c": "skipped: no device"})

    def test_cases_skipped_within(self):
        for printed, expected in (
            ("[       OK ] a\n[  PASSED  ] 3 test(s).\n", (0, False)),
            ("[  SKIPPED ] b\n[  PASSED  ] 1 test(s).\n[  SKIPPED ] 2 test(s), listed below:\n"
             "[  SKIPPED ] b\n[  SKIPPED ] c\n\n 2 SKIPPED TEST(S)\n", (2, True)),
            ("[  PASSED  ] 0 test(s).\n[  SKIPPED ] g: 1 test(s), listed below:\n", (1, False)),
            ("Ran 3 tests in 0.1s\n\nOK (skipped=1)\n", (1, True)),
            ("Ran 2 tests in 0.1s\n\nOK (skipped=2)\n", (2, False)),
            ("5 passed, 1 skipped in 0.31s\n", (1, True)),
            ("1 skipped in 0.02s\n", (1, False)),
            ("skipped (no sshd) b 0.01 s\nok a 0.12 s\nskipped (no) c 0.01 s\n", (2, True)),
        ):
            skipped, ran = run_tests.skipped_within(printed)
            self.assertEqual((skipped, ran and bool(skipped)), expected, printed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.xml"
            path.write_text("<testsuite>" + "".join(
                f'<testcase name="{name}" status="run"><system-out>{text}</system-out></testcase>'
                for name, text in (("u.a", "[  PASSED  ] 4 test(s).\n"
                                           "[  SKIPPED ] 2 test(s), listed"),
                                   ("u.b", "Ran 1 test in 0.1s\n\nOK (skipped=1)"),
                                   ("u.c", "fine"))) + "</testsuite>")
            total = run_tests.sum_of(run_tests.read_report(path).values())
        self.assertEqual(str(total), "2 passed, 0 failed, 3 skipped")
        self.assertEqual(total.why, {"u.a": "2 of its cases", "u.b": "1 of its cases"})

    def test_run_again(self):
        stage = run_tests.Stage("x", "dev", "net")
        first = run_tests.Count(5, 2, 1, {"n.a": ["first a"], "n.b": ["first b"]})
        seen = []

        def second(stage, jobs, prefix, choice=(), only=None):
            seen.append((jobs, sorted(only)))
            return {"n": run_tests.Count(1, 1, 0, {"n.b": ["second b"]})}

        run_ctest, run_tests.run_ctest = run_tests.run_ctest, second
        root = run_tests.ROOT
        try:
            with tempfile.TemporaryDirectory() as folder:
                run_tests.ROOT = Path(folder)
                (run_tests.ROOT / run_tests.TREES["dev"]).mkdir()
                count = run_tests.run_again(stage, [], {"n": first})["n"]
                kept = (run_tests.ROOT / run_tests.TREES["dev"] / "second-runs.txt").read_text()
        finally:
            run_tests.run_ctest, run_tests.ROOT = run_ctest, root
        self.assertRegex(kept, r"^20[-0-9]* [0-9:]* n.a\n$")
        self.assertEqual(seen, [(1, ["n.a", "n.b"])])
        self.assertEqual(str(count), "6 passed, 1 failed, 1 skipped")
        self.assertEqual(count.second, 1)
        self.assertEqual(count.ends["n.b"], ["second b", "again: ctest --test-dir build "
                                             r"-R '^n\.b$' --output-on-failure"])
        self.assertEqual(count.ends["n.a (passed when run again, alone)"], ["first a"])

    def test_no_tree_is_a_failure(self):
        stage = run_tests.Stage("x", "dev", "unit")
        trees, run_tests.TREES = run_tests.TREES, {"dev": "no-such-tree"}
        with contextlib.redirect_stdout(io.StringIO()):
            count = run_tests.sum_of(run_tests.run_ctest(stage, 1, []).values())
        run_tests.TREES = trees
        self.assertEqual(str(count), "0 passed, 1 failed")

    def test_check_leaves_out(self):
        """`make check` runs a part of the stages of `make test`, and names no stage of its own."""
        whole = {stage.name: stage for stage in run_tests.STAGES}
        for stage in run_tests.CHECK_STAGES:
            self.assertEqual(whole[stage.name].label, stage.label)
            self.assertEqual(whole[stage.name].select, ())
        chosen = [s for s in run_tests.CHECK_STAGES if s.name == "conformance"][0]
        self.assertEqual(chosen.also, "check")

    def test_beside(self):
        """Stages that run as one have the same tree, environment, second label and share."""
        for every in (run_tests.ALL_STAGES, run_tests.CHECK_STAGES):
            for word in {stage.beside for stage in every if stage.beside}:
                group = [stage for stage in every if stage.beside == word]
                same = {(s.preset, s.env, s.also, s.select, s.waits) for s in group}
                self.assertEqual(len(same), 1, word)

    def test_under(self):
        """Stages under a group count with it; their output comes at the end; each is under one."""
        for every in (run_tests.ALL_STAGES, run_tests.CHECK_STAGES):
            for stage in (stage for stage in every if stage.under):
                self.assertIn(stage.under, {other.beside for other in every})

        def fake(stage, jobs, choice):
            run_tests.say(f"ran {stage.name}")
            if stage.name == "ends":
                raise SystemExit(3)
            return {stage.name: run_tests.Count(passed=1)}

        above = [run_tests.Stage(name, "dev", name, beside="w") for name in "ab"]
        run_stage, run_tests.run_stage = run_tests.run_stage, fake
        try:
            for names, want in (("c", "2 passed"), ("ends", "1 passed, 1 failed")):
                under = [run_tests.Stage(names, "dev", "c", under="w")]
                with contextlib.redirect_stdout(io.StringIO()) as text:
                    total, lines = run_tests.run_group(above, under, 1, ())
                self.assertIn(want, str(total))
                self.assertRegex(text.getvalue(), rf"(?s)ran w\n.*ran {names}\n")
                self.assertEqual([line.split()[0] for line in lines[2:]], ["c"] * (names == "c"))
        finally:
            run_tests.run_stage = run_stage

    def test_parts(self):
        """The parts K/N, together, run each test once; a part may have none."""
        with tempfile.TemporaryDirectory() as folder:
            tests = "".join(
                f"add_test(t{i} true)\nset_tests_properties(t{i} PROPERTIES LABELS {label})\n"
                for i, label in enumerate(["a", "a", "b", "a", "a", "a"])
            )
            (Path(folder) / "CTestTestfile.cmake").write_text(tests)
            stage = run_tests.Stage("x", "dev", "a")
            root, run_tests.ROOT = run_tests.ROOT, Path(folder)
            trees, run_tests.TREES = run_tests.TREES, {"dev": "."}
            try:
                counts = [
                    run_tests.run_ctest(stage, 1, [], run_tests.part_of(f"{part}/6"))
                    for part in range(1, 7)
                ]
            finally:
                run_tests.ROOT, run_tests.TREES = root, trees
        totals = [run_tests.sum_of(count.values()) for count in counts]
        self.assertEqual([total.passed for total in totals], [1, 1, 1, 1, 1, 0])
        self.assertEqual(totals[5].failed, 0)
        with self.assertRaises(argparse.ArgumentTypeError):
            run_tests.part_of("4/3")


class IfChanged(unittest.TestCase):
    """scripts/if_changed.py on a script that reads by every means."""

    SCRIPT = """import pathlib, subprocess, sys
import helper
HERE = pathlib.Path(sys.argv[1])
(HERE / "read").read_text()
sorted((HERE / "listed").iterdir())
(HERE / "asked").exists()
subprocess.run(["true", f"-I{HERE}/tree", str(HERE / "named")], check=True)
print("ran")
sys.exit((HERE / "read").read_text() == "bad")
"""

    def call(self, root):
        """(exit code, whether the script has run)."""
        command = [sys.executable, str(HERE / "if_changed.py"), "--root", str(root), "--build",
                   str(root / "build"), "x", str(root / "script.py"), str(root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, "ran" in done.stdout

    def test_each_change_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name in ("build", "listed", "other", "tree/below"):
                (root / name).mkdir(parents=True)
            for name in ("helper.py", "named", "tree/below/file", "read"):
                (root / name).write_text("old = 1\n")
            (root / "script.py").write_text(self.SCRIPT)
            self.assertEqual(self.call(root), (0, True))
            self.assertEqual(self.call(root), (0, False))
            (root / "other" / "unread").write_text("x")
            self.assertEqual(self.call(root), (0, False))
            for name in ("read", "listed/more", "asked", "tree/below/file", "tree/more", "named",
                         "helper.py"):
                (root / name).write_text("new = 2\n")
                self.assertEqual(self.call(root), (0, True), name)
                self.assertEqual(self.call(root), (0, False), name)
            (root / "read").write_text("bad")
            self.assertEqual(self.call(root), (1, True))
            self.assertEqual(self.call(root), (1, True), "what failed is not kept")


class Symbols(unittest.TestCase):
    """scripts/check_symbols.py on a library of one function."""

    def check(self, header, source, rows=ROWS):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in check_symbols.FIRST:
                (root / name).write_text("#pragma once\n")
            (root / "gasnetex.h").write_text("#pragma once\n" + header)
            (root / "rows").write_text(rows)
            (root / "optional").write_text("# none\n")
            command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(root / "l.so")]
            subprocess.run(command, input=source.encode(), check=True)
            arguments = ["--lib", str(root / "l.so"), "--include", folder]
            arguments += ["--symbols", str(root / "rows"), "--optional", str(root / "optional")]
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = check_symbols.main(arguments)
            return code, out.getvalue()

    def test_symbols(self):
        good = "int gex_f(void) { return 1; }\n"
        one = "#define GEX_ONE 1\n"
        self.assertEqual(self.check(HEADER + one, good)[0], 0)
        code, out = self.check(HEADER, good)
        self.assertEqual(code, 1)
        self.assertIn("missing: GEX_ONE", out)
        self.assertIn("missing: gex_f", self.check(HEADER + one, "int gex_g;\n")[1])
        self.assertIn("foreign: other", self.check(HEADER + one, good + "int other;\n")[1])
        bad_field = (HEADER + one).replace("int field", "int wrong")
        self.assertIn("missing: gex_T.field", self.check(bad_field, good)[1])
        self.assertEqual(self.check(HEADER + one, good, rows="")[0], 1)


if __name__ == "__main__":
    unittest.main()
