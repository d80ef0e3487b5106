#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Unit test of scripts/tidy.py: each rule fires on code that breaks it, and only on that."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_calls
import tidy
import tidy_layers
import tidy_text

SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
HEAD = SPDX + "/* What it owns.\n * Who calls it.\n * What it calls. */\n"
LAYERS = """# test
include ->
src/base ->
src/os -> src/base
src/conduit -> src/base
src/conduit/* -> src/conduit/conduit.h src/conduit/shm/shm.h src/base
src/core -> src/conduit/conduit.h src/base include
tests -> include
"""


def run(files, paths=(), readme=True):
    """Runs tidy on a tree made of `files` {path: text}; returns (exit code, output).

    `readme`: each folder gets a README.md.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "LAYERS").write_text(LAYERS)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            if readme:
                (root / path).with_name("README.md").write_text("A room.\n")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = tidy.main(["--root", folder] + [str(root / p) for p in paths])
        return code, out.getvalue()


class Rules(unittest.TestCase):
    """One test for each rule: `fires` and `quiet`."""

    def fires(self, rule, files, at=None):
        if isinstance(files, str):
            files = {"src/base/x.c": HEAD + files}
        code, out = run(files)
        self.assertEqual(code, 1, out)
        self.assertIn(f": {rule}: " if rule != "gate" else "gate: ", out)
        if at:
            self.assertIn(f"{at}: {rule}: ", out)

    def quiet(self, files):
        if isinstance(files, str):
            files = {"src/base/x.c": HEAD + files}
        code, out = run(files)
        self.assertEqual((code, out.count("\n")), (0, 1), out)

    def test_spdx(self):
        self.fires(
            "spdx", {"src/base/x.c": "/* What.\n * Who.\n * How. */\nint x;\n"}, "src/base/x.c:1"
        )
        self.fires("spdx", {"scripts/x.py": "#!/usr/bin/env python3\nprint()\n"}, "scripts/x.py:2")
        self.fires("spdx", {"scripts/x.sh": "# SPDX-License-Identifier: MIT\n"})
        self.quiet(
            {"scripts/x.py": "#!/usr/bin/env python3\n# SPDX-License-Identifier: BSD-3-Clause\n"}
        )

    def test_head(self):
        self.fires("head", {"src/base/x.c": SPDX + "int x;\n"})
        self.fires("head", {"src/base/x.c": SPDX + "/* Short. */\nint x;\n"})
        self.quiet("extern int x;\n")
        self.quiet({"tests/multi/x.c": SPDX + "/* What it tests. */\nint x;\n"})

    def test_line_length(self):
        self.fires("line-length", "int x; /* " + "a" * 100 + " */\n", "src/base/x.c:5")
        self.quiet("extern int " + "x" * 88 + ";\n")

    def test_file_lines(self):
        self.fires("file-lines", "int x;\n" * 1001)
        docs = "/* d\n" + " * doc\n" * 1500 + " */\n"
        self.quiet({"include/x.h": HEAD + docs + "int x;\n"})
        self.fires("file-lines", {"src/base/x.h": HEAD + docs + "int x;\n"})

    def test_function_lines(self):
        self.fires("function-lines", "int f(void)\n{\n" + "  g();\n" * 70 + "}\n")
        self.fires("function-lines", 'extern "C" {\nint f(void) {\n' + "  g();\n" * 70 + "}\n}\n")
        self.fires(
            "function-lines", "int f(void) __attribute__((cold)) {\n" + "  g();\n" * 70 + "}\n"
        )
        branch = "#if A\nint f(void) {\n#else\nint f(int a) {\n#endif\n"
        self.fires("function-lines", branch + "  g();\n" * 70 + "}\nint h(void) { return 1; }\n")
        self.quiet("int f(void) {\n" + "  g();\n" * 68 + "}\n")
        self.quiet(
            "struct s {\n" + "  int m;\n" * 90 + "};\nconst int t[] = {\n" + "  1,\n" * 90 + "};\n"
        )

    def test_params(self):
        self.fires(
            "params", "int f(int a, int b, int c, int d, int e, int (*f)(int, int), int g) {}\n"
        )
        self.quiet("int f(int a, int b, int c, int d, int e, int (*f)(int, int)) {}\n")
        self.quiet("int gex_RMA_Put(int a, int b, int c, int d, int e, int f, int g) {}\n")
        self.quiet("CASE(a, 1, 2, 3, 4, 5, 6) {}\n")

    def test_complexity(self):
        body = "".join(f"  if (a == {i} || b) g();\n" for i in range(8))
        self.fires("complexity", "int f(int a) {\n" + body + "}\n")
        cases = "".join(f"  case {i}: return 1;\n" for i in range(17))
        self.quiet("int f(int a) {\n  switch (a) {\n" + cases + "  }\n  return 0;\n}\n")

    def test_name_length(self):
        self.fires("name-length", "int tmb_" + "x" * 29 + "(void) {}\n")
        self.quiet("int tmb_" + "x" * 28 + "(void) {}\n")

    def test_doc(self):
        self.fires("doc", {"include/x.h": HEAD + "\nint gex_f(void);\n"}, "include/x.h:6")
        self.fires(
            "doc", {"include/x.h": HEAD + "\n/* A. */\nint gex_f(void);\n\nint gex_g(void);\n"}
        )
        self.fires("doc", {"include/x.h": HEAD + '\nextern "C" {\nint gex_f(void);\n}\n'})
        self.fires(
            "doc", {"include/x.h": HEAD + "\nstatic inline int gasnet_f(void) { return 1; }\n"}
        )
        self.quiet({"include/x.h": HEAD + "\n/* A. */\nint gex_f(void);\nint gex_g(void);\n"})
        self.quiet({"include/x.h": HEAD + "\nint tmb_f(void);\ntypedef int (*gex_t)(int);\n"})

    def test_circles(self):
        rows = [("a", ["b"]), ("b", ["c/."]), ("c", ["a/y.h"]), ("c/d", ["a"])]
        self.assertIsNone(tidy_layers.find_circle(rows))
        self.assertTrue(tidy_layers.allows("b/x.c", "c/x.h", rows))
        self.assertFalse(tidy_layers.allows("b/x.c", "c/d/x.h", rows))
        self.assertFalse(tidy_layers.allows("c/x.c", "c/d/x.h", rows))
        rows[2] = ("c", ["a"])
        self.assertEqual(sorted(tidy_layers.find_circle(rows)), ["a", "b", "c"])
        self.assertIn("circle", next(tidy_layers.check_circles(rows)))

    def test_layers(self):
        base = {"src/base/b.h": HEAD, "src/os/o.h": HEAD, "src/conduit/conduit.h": HEAD}
        self.fires(
            "layers", {**base, "src/base/x.c": HEAD + '#include "os/o.h"\n'}, "src/base/x.c:5"
        )
        self.fires("layers", {**base, "src/core/c.c": HEAD + '#include "os/o.h"\n'})
        two = {**base, "src/conduit/a/a.h": HEAD, "src/conduit/shm/shm.h": HEAD}
        self.fires("layers", {**two, "src/conduit/b/b.c": HEAD + '#include "conduit/a/a.h"\n'})
        self.fires("layers", {"src/base/x.c": HEAD + '#include "nowhere.h"\n'})
        self.fires("layers", {"include/p.h": HEAD, "src/base/x.c": HEAD + "#include <p.h>\n"})
        self.fires("layers", {**base, "tests/multi/x.c": HEAD + '#include "../../src/base/b.h"\n'})
        self.fires("layers", {**base, "src/other/x.c": HEAD + '#include "base/b.h"\n'})
        names = ("conduit/conduit.h", "conduit/shm/shm.h", "../../base/b.h")
        edges = "".join(f'#include "{name}"\n' for name in names)
        edges += "#include <stdio.h>\n"
        self.quiet({**two, "src/conduit/b/b.c": HEAD + edges})

    def test_include_c(self):
        self.fires("include-c", {"src/base/y.c": HEAD, "src/base/x.c": HEAD + '#include "y.c"\n'})

    def test_banned(self):
        for name in ("strcpy", "strcat", "sprintf", "vsprintf", "gets", "alloca"):
            self.fires("banned", f"void f(void) {{ {name}(a, b); }}\n", "src/base/x.c:5")
        self.quiet('/* strcpy(a) */ char *const s = "sprintf(a)"; void f(void) { snprintf(a); }\n')

    def test_locale(self):
        for call in ("strtod(a, 0)", "toupper(*a)", 'snprintf(a, 9, "%.1f", b)'):
            self.fires("locale", f"void f(void) {{ {call}; }}\n", "src/base/x.c:5")
        two_lines = 'void f(void) {\n  fprintf(a,\n    "%*g", b);\n}\n'
        self.fires("locale", two_lines, "src/base/x.c:6")
        self.quiet('void f(void) { snprintf(a, 9, "%d%% free", b); }\n')
        self.quiet({"tools/fc/x.c": HEAD + "void f(void) { strtod(a, 0); }\n",
                    "tools/fc/README.md": "In, out.\n"})

    def test_getenv(self):
        self.fires("getenv", 'void f(void) { getenv("A"); }\n')
        self.quiet({"src/base/config.c": HEAD + 'void f(void) { getenv("A"); }\n'})
        self.quiet({"tests/multi/x.c": HEAD + 'void f(void) { getenv("A"); }\n'})

    def test_sleeps(self):
        wait = {"src/core/progress/wait.h": HEAD.replace("What it calls.", "But for a.c.") + "#\n"}
        own = {"src/core/progress/wait.c": HEAD + "void g(void) { usleep(1); }\n"}
        code = HEAD + "void f(void) { sched_yield(); }\n"
        listed = {**wait, **own, "src/core/a.c": code}
        self.quiet(listed)
        self.fires("sleeps", {**listed, "src/net/b.c": code}, "src/net/b.c:5")
        self.fires("sleeps", {**wait, **own}, "wait.h:1")
        self.quiet({**listed, "src/os/b.c": code, "src/net/b_test.c": code})

    def test_malloc(self):
        self.fires("malloc", "void f(void) { int *p = malloc(4); *p = 1; }\n")
        self.fires("malloc", "void f(void) { use(malloc(4)); }\n")
        self.fires("malloc", "void f(void) { char *s = trim(strdup(t)); if (s) g(); }\n")
        self.quiet("int f(void) { int *p = malloc(4); if (p == NULL) return 1; return *p; }\n")
        self.quiet("void f(void) { s->p = calloc(4, sizeof(int)); assert_non_null(s->p); }\n")
        self.quiet("void *f(void) { return malloc(4); }\n")

    def test_assert(self):
        self.fires("assert", "void f(void) { assert(i++ < 3); }\n")
        self.fires("assert", "void f(void) { assert((n = g()) > 0); }\n")
        self.quiet("void f(void) { assert(n >= 0 && m == 1); }\n")

    def test_vla(self):
        self.fires("vla", "void f(int n) { char text[n]; }\n")
        self.fires("vla", "void f(int n) { uint64_t text[2 * n + 1]; }\n")
        self.quiet(
            "void f(void) { char text[MAX]; int x[4] = {0}; a[n] = 3; char b[sizeof(x) * 2]; }\n"
        )
        self.quiet({"examples/x.cc": HEAD + "void f() { const auto [one, two] = g(); }\n"})

    def test_platform(self):
        code = "#if defined(__linux__)\n#endif\n"
        self.fires("platform", {"src/core/x.c": HEAD + code}, "src/core/x.c:5")
        self.quiet({"src/os/x.c": HEAD + code})
        self.quiet({"include/gasnet_portable_platform.h": HEAD + code})

    def test_atomics(self):
        self.fires("atomics", "void f(void) { __atomic_load_n(p, 0); }\n")
        self.fires("atomics", "void f(void) { __sync_synchronize(); }\n")
        self.fires("atomics", "#include <stdatomic.h>\n")
        self.quiet({"src/base/atomic.h": HEAD + "static int f(void) { __atomic_load_n(p, 0); }\n"})

    def test_macro_flow(self):
        self.fires("macro-flow", "#define TRY(x) \\\n  if (x) \\\n    return 1\n", "src/base/x.c:5")
        self.fires("macro-flow", "#define TRY(x) do { if (x) { goto fail; } } while (0)\n")
        self.quiet("#define RETURNS 1\n")
        self.quiet("#define DEFINE(t) static inline t f_##t(t x) { return x; }\n")

    def test_state(self):
        rows = "| file | what | why |\n|---|---|---|\n| `src/base/x.c` | a | b |\n"
        table = {"docs/STATE.md": rows}
        for change in (
            "int x;",
            "static struct { int a; } x;",
            "static const char *x;",
            "static int (*x[2])(void);",
            "_Thread_local int x;",
            "struct a { int b; } x = {1};",
            "int f(void) {\n  static char x[sizeof(f())];\n  return x[0];\n}",
            "TMB_WEAK int x;",
        ):
            with self.subTest(change):
                self.fires("state", change + "\n")
            self.quiet({"src/base/x.c": HEAD + change + "\n", **table})
        for fixed in (
            "static const int x[] = {1};",
            "static const char *const x = 0;",
            "extern int x;",
            "struct a { int *b; };",
            "typedef int x;",
            "int f(int *a);",
            "static int f(int *a) {\n  int x = *a;\n  return x;\n}",
            "struct tmb_job tmb_job = {1};",
            "LIST(SHAPE)",
        ):
            self.quiet(fixed + "\n")
        code, out = run({"src/base/x.c": HEAD, **table})
        self.assertEqual(code, 1, out)
        self.assertIn("docs/STATE.md:3: state: src/base/x.c has no variable", out)

    def test_path(self):
        self.fires("path", "/* See src/base/lost.c. */\n")
        self.fires("path", {"src/base/x.c": HEAD, "docs/X.md": "As in `tools/lost.py`.\n"})
        self.quiet("/* See src/base/x.c, tests/NAME.c and tools/x.c. */\n")

    def test_words(self):
        self.fires("words", "/* A stranger says hello. */\n")
        self.fires("words", "int tmb_tender_stop;\n")
        self.fires("words", "#define PATIENCE_NS 1\n")
        self.quiet("extern int tendered, pretender;\n")
        code, out = run({"src/base/x.c": HEAD, "docs/X.md": "It is deaf.\n"})
        self.assertEqual(code, 1, out)
        self.assertIn("docs/X.md:1: words: deaf: write closed", out)
        self.fires("words", "/* The peer is gone. */\n")
        self.fires("words", "static int note_told;\n")
        self.fires("words", "/* Two strangers, and a put that is under way. */\n")
        self.quiet("extern int agony, tolderol, newspaper;\n")
        table = "## Instead of\n\n|---|---|\n| **Foe** (a peer), x | peer |\n"
        self.assertEqual(tidy_text.read_words("| **no** | yes |\n" + table), {"foe": "peer"})

    def test_table(self):
        files, head = {"src/base/x.c": HEAD}, "| a | b |\n|---|---|\n"
        bad = head + "| 1 | 2 |\n\n| 3 | 4 |\n"
        self.fires("table", {**files, "docs/X.md": bad}, "docs/X.md:5")
        self.quiet({**files, "docs/X.md": head + "| 1 | 2 |\n\n" + head + "```\n| 3 |\n```\n"})

    def test_prints(self):
        test = HEAD + "static void f(int a) {\n  %s;\n}\n"
        for bad in ("assert_true(a == 1)", "assert_true(a && a < 2)"):
            self.fires("prints", {"src/base/x_test.c": test % bad})
        for good in ("assert_true(a)", "assert_true(!a || a < 2)", "assert_int_equal(a, 1)"):
            self.quiet({"src/base/x_test.c": test % good})

    def test_sentence(self):
        word = "Word " + "word " * 30
        files = {"src/base/x.c": HEAD}
        for bad in (word + "and more.\n", f"* {word}\n  and more.\n", f"| a | {word} a b |\n"):
            self.fires("sentence", {**files, "docs/X.md": bad}, "docs/X.md:1")
        for good in (word + "end. More.\n", word + "\n\nMore words.\n", f"```\n{word * 2}\n```\n"):
            self.quiet({**files, "docs/X.md": good})
        self.quiet({**files, "docs/X.md": f"    {word * 2}\n", "CHANGELOG.md": word * 2 + "\n"})

    def test_tuning(self):
        path = "src/core/x.h"
        above = "/* Chosen, not measured. */\n"
        for bad in ("#define N 8u /* turns */", above + "\n#define N 8", "#define N (4u << 20)"):
            self.fires("tuning", {path: HEAD + "\n" + bad + "\n"})
        for good in ("#define N 8 /* fixed by IPv6 */", above + "#define N 8", "#define N (2 * M)"):
            self.quiet({path: HEAD + "\n" + good + "\n"})
        self.quiet({"src/boot/x.h": HEAD + "\n#define N 8u\n"})

    def test_gate(self):
        short = "int f(void) { return 1; }\n" * 95
        medium = "int f(void) {\n" + "  g();\n" * 45 + "}\n"
        files = {f"src/base/x{i}.c": HEAD + medium * 15 for i in range(2)}
        self.fires("gate", {"src/base/a.c": HEAD + short, **files})
        long = "int f(void) {\n" + "  g();\n" * 63 + "}\n"
        self.fires("gate", {"src/base/a.c": HEAD + short + short, "src/base/b.c": HEAD + long * 3})
        self.quiet({"src/base/a.c": HEAD + short + short + long})

    def test_every_rule_has_a_test(self):
        names = {
            name[len("test_") :].replace("_", "-") for name in dir(self) if name.startswith("test_")
        }
        self.assertEqual(set(tidy.RULES) - names, set())


class Use(unittest.TestCase):
    """Excuses, paths and empty trees."""

    def test_rooms(self):
        code, out = run({"src/base/x.c": HEAD}, readme=False)
        self.assertEqual(code, 1, out)
        self.assertIn("src/base: room: no README.md", out)
        full = {f"src/base/x{i}.c": HEAD for i in range(tidy_layers.ROOM_FILES)}
        self.assertEqual(run({**full, "src/base/x_test.c": HEAD})[0], 0)
        code, out = run({**full, "src/base/more.h": HEAD})
        self.assertIn("src/base: room: 21 sources", out)

    def test_excuse(self):
        allow = "/* tidy-allow: getenv because it is a test */\n"
        code, out = run({"src/base/x.c": HEAD + allow + 'void f(void) { getenv("A"); }\n'})
        self.assertEqual(code, 0, out)
        self.assertIn("1 excused", out)
        no_reason = "/* tidy-allow: getenv */\n"
        code, out = run({"src/base/x.c": HEAD + no_reason + 'void f(void) { getenv("A"); }\n'})
        self.assertEqual(code, 1, out)
        code, out = run({"src/base/x.c": HEAD + allow + "void f(void) { gets(a); }\n"})
        self.assertEqual(code, 1, out)

    def test_path(self):
        files = {"src/base/x.c": "int x;\n", "src/os/y.c": HEAD}
        self.assertEqual(run(files)[0], 1)
        self.assertEqual(run(files, ["src/os"])[0], 0)
        self.assertEqual(run(files, ["src/base/x.c"])[0], 1)

    def test_nothing_to_check(self):
        self.assertEqual(run({})[0], 1)


class Calls(unittest.TestCase):
    """check_calls.py: what a file uses is what its row of LAYERS names."""

    def found(self, files, header="", inline=()):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "LAYERS").write_text(LAYERS)
            (root / "src/conduit").mkdir(parents=True)
            (root / "src/conduit/conduit.h").write_text(header)
            for path, (_, used) in files.items():
                if path not in inline:
                    (root / path).parent.mkdir(parents=True, exist_ok=True)
                    (root / path).write_text(" ".join(used))
            texts = check_calls.Texts(root)
            return list(check_calls.check(files, tidy_layers.read_layers(root), texts))

    def test_folders(self):
        base = {"src/base/b.c": ({"tmb_b"}, set())}
        self.assertEqual(self.found({**base, "src/os/o.c": (set(), {"tmb_b", "malloc"})}), [])
        up = {**base, "src/core/c.c": ({"tmb_c"}, {"tmb_b"}), "src/os/o.c": (set(), {"tmb_c"})}
        self.assertEqual(self.found(up), [("src/os/o.c", "tmb_c", "src/core/c.c")])
        self.assertEqual(self.found(up, inline=["src/os/o.c"]), [])
        own = {"src/os/o.c": ({"tmb_o"}, set()), "src/os/p.c": (set(), {"tmb_o"})}
        self.assertEqual(self.found(own), [])

    def test_contracts(self):
        files = {
            "src/core/c.c": ({"tmb_up", "tmb_c"}, {"tmb_open"}),
            "src/conduit/a/a.c": ({"tmb_open"}, {"tmb_up"}),
        }
        header = "int tmb_open(void); void tmb_up(void);"
        self.assertEqual(self.found(files, header), [])
        self.assertEqual(len(self.found(files, "void tmb_upper(void);")), 2)

    def test_inlines_belong_to_their_headers(self):
        files = {"src/api/symbols.c": ({"gex_f"}, set()), "src/core/c.c": (set(), {"gex_f"})}
        self.assertEqual(self.found(files), [])
        files["src/os/o.c"] = (set(), {"gex_f"})
        self.assertEqual(self.found(files), [("src/os/o.c", "gex_f", "include")])

    def test_circles_of_files(self):
        files = {
            "a.c": ({"a"}, {"b"}),
            "b.c": ({"b"}, {"c", "puts"}),
            "c.c": ({"c"}, {"a"}),
            "d.c": ({"d"}, {"a"}),
        }
        self.assertEqual(check_calls.file_circles(files), [("a.c", "b.c", "c.c")])
        with tempfile.TemporaryDirectory() as build:
            made = Path(build) / "CMakeFiles/tombolo_net_udp_parts.dir/src/net/udp/x.c.o"
            made.parent.mkdir(parents=True)
            made.touch()
            seen = {"src/net/udp/x.c": (set(), set())}
            self.assertEqual(list(check_calls.check_seen(Path(build), seen)), [])
            unseen = {"src/net/plugin/alone.c": (set(), set())}
            self.assertEqual(len(list(check_calls.check_seen(Path(build), unseen))), 1)
        files["c.c"] = ({"c"}, set())
        self.assertEqual(check_calls.file_circles(files), [])


if __name__ == "__main__":
    unittest.main()
