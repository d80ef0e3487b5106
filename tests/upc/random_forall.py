#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
"""Random upc_forall loops against the same loops over private arrays, on every thread.

Layouts, rows, bounds, distances of neighbours, pointers that begin inside a block, conditions,
`continue`, strict accesses, loops by a pointer and downwards are drawn with a fixed seed. No loop
reads what another iteration writes. The program is compiled with and without optimisation, for a
number of threads known at run time and for a fixed one.

Behind them stand loops whose control is drawn: variables of each integer type, bounds, steps and
affinities that are expressions with side effects, loops that are left, nested or in functions. Each
is compared with the same text as a `for` with the test of the affinity: the iterations in their
order, what was stored, the variables in the end. `random_forall.py SEED COUNT` runs COUNT of them.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
WHOLE = bool(os.environ.get("TMB_TEST_WHOLE"))  # `make test-all`: nothing is left out
LOOPS, BY_POINTER, DOWN, CONTROL = (40, 16, 16, 16) if WHOLE else (12, 6, 6, 6)
ALL = LOOPS + BY_POINTER + DOWN
HEAD = """#include <upc_relaxed.h>
#include <stdio.h>
strict shared int pulse[THREADS];
static int bad;
static void same(int loop, long i, long got, long wanted) {
  if (got != wanted && bad++ < 3)
    printf("loop %d: thread %d: element %ld is %ld, not %ld\\n", loop, (int)MYTHREAD, i, got,
           wanted);
}
"""


CONTROL_HEAD = """
#define N (20 * (int)THREADS)
#define MINE(x) (((long)(x) % THREADS + THREADS) % THREADS == MYTHREAD)
#define AT(p) (upc_threadof(p) == MYTHREAD)
static unsigned long trace, calls;
static int many;
static volatile int seven = 7;
static int base_of = 3;
static void mark(long i) { trace = trace * 1000003 + i + 5; }
static long seen(long i) { calls = calls * 31 + i + 1; return i; }
"""

CONTROL_LAYOUTS = ["", "[2]", "[3]", "[5]", "[16]", "[*]", "[]"]
VARIABLES = ["int", "int", "long", "short", "signed char", "unsigned char", "unsigned short",
             "unsigned", "unsigned long", "long long", "size_t", "char"]


def control_body(rng, number, plain, racy, down):
    """Statements of a loop with arrays A and F; plain: nothing changes its control; racy: several
    threads may execute an iteration, so none touches elements that are written; down: the loop
    counts down, so a step upwards would keep it going for ever."""
    near = rng.randint(0, 3)
    calm = [f"A[i] += 2 * i + F[(i + {near}) % N];", f"A[i] = F[i] - {near};", "A[i]++;",
            "p[i] ^= F[i];", "mark(F[i]);", "if (i % 3 == 1) continue;", "A[i] += base_of;",
            "{ long i = 4; mark(i); }", "{ int k = i; mark(k++); mark(k); }",
            "for (int i = 0; i < 3; i++) { if (i == 1) continue; mark(i); }",
            "switch (i % 3) { case 0: mark(7); break; case 1: continue; default: mark(9); }",
            "if (F[i] % 4 == 0) { A[i] = 1; continue; }", "do { mark(1); break; } while (1);",
            "base_of = base_of % 5 + 1;", "mark(j); j += 2;", "*(q + 0) -= i == 8; mark(i);",
            "{ shared LAY int *e = &A[i]; *e += 4; mark(*e); }", "mark(seven);", "mark(A[i]);",
            "if (upc_threadof(&A[i]) == MYTHREAD) { int *c = (int *)&A[i]; *c += 6; }"]
    if racy:
        calm = [line for line in calm if "A[" not in line and "p[i]" not in line]
    rash = ["if (i % 5 == 2) i++;", "if (F[i] % 7 == 0) break;", "if (i > 11) goto out;",
            "if (F[i] % 9 == 1) return;", "if (i == 4) hi--;", "if (i == 6) *q = *q - 1;",
            "while (1) { if (i % 7 == 3) goto out; break; }", "hi -= F[i] % 11 == 0;",
            "again: if (many++ % 4 == 3) { mark(2); goto again; }",
            "switch (F[i] % 6) { case 1: if (i > 9) break; goto out; case 2: return; default:; }"]
    if down:
        rash = rash[1:]
    own = ["seen(i);", f"inner{number}(CALLED);",
           "LOOP2(int k = 0, k < 5, k++, k) { mark(k); if (k == 3) continue; mark(i + k); }",
           "LOOP2(int k = 0, k < N, k++, &F[k]) mark(F[k]);"]
    lines = [rng.choice(calm) for _ in range(rng.randint(1, 4))]
    if not plain:
        lines += [rng.choice(rash) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.4:
        lines.append(rng.choice(own))
    rng.shuffle(lines)
    return " ".join(["mark(i);", *lines, "mark(i);"])


def control_head(rng, kind, declared):
    """The three expressions of a loop."""
    step = rng.choice([1, 1, 1, 2, 3, 7])
    low = rng.choice(["0", "1", "lo", "lo + 1", "seven - 5", "seen(2)"])
    high = rng.choice(["N", "hi", "hi - 1", "N - 3", "N / 2 + 1", "*q", "seen(hi)", "seven + 9",
                       "(hi < N ? hi : N - 1)", "10", "base_of + 8"])
    start = f"{kind} i = " if declared else "i = "
    if rng.random() < 0.3:
        low = rng.choice(["1", "lo", "lo + 1", "seven - 5"])
        cond = rng.choice([f"i > {low}", f"i >= {low}", f"{low} < i", f"i > {low} && i < N"])
        words = [f"i -= {step}", f"i = i - {step}", f"j++, i -= {step}"]
        if step == 1:
            words += ["i--", "--i", "i += -1"]
        elif "=" in cond or rng.random() < 0.5:
            cond = f"(long)i > {step} && {cond}"
        if "unsigned" in kind or kind == "size_t":
            cond = f"i > {step} && {cond}"
        return start + rng.choice(["N - 1", "hi - 1", "N - 4"]), cond, rng.choice(words)
    including = "N" not in high and rng.random() < 0.3
    cond = rng.choice([f"i < {high}", f"i < ({high})", f"{high} > i", f"i < {high} && i < N"])
    if including and high in ("hi - 1", "10", "seven + 9"):
        cond = f"i <= {high}"
    words = [f"i += {step}", f"i = i + {step}", f"i += {step}, j--", "i += st", "j++, i += st"]
    if step == 1:
        words += ["i++", "++i", "i++", "i++", "i++, j++", "seen(i), i++"]
    return start + low, cond, rng.choice(words)


def affinity(rng, wild):
    """An affinity."""
    calm = ["i", "&A[i]", "&A[i]", "&F[i]", "&p[i]"]
    odd = ["i + 1", "i * 3", "(int)i", "i + j", "j", "F[i]", "seen(i)", "&F[(i + 1) % N]", "p + i",
           "&A[i / 2]", "&B[i * 2 + 1]", "&B[lo + i]", "&B[i + lo]", "&B[(lo * 5) + i]", "&W[i][1]",
           "W[i]", "&F[seen(i)]", "continue", "", "0", "lo", "(i)", "&*(A + i)", "i ? &A[i] : A"]
    return rng.choice(calm if not wild else odd)


def control_text(rng, number):
    """Declarations, and a function with a loop in words of its own; LOOP is its loop's head."""
    lay, lay2 = rng.choice(CONTROL_LAYOUTS), rng.choice(CONTROL_LAYOUTS[:5])
    kind, declared = rng.choice(VARIABLES), rng.random() < 0.5
    plain = rng.random() < 0.6
    aff = affinity(rng, rng.random() < 0.55)
    racy = not plain or aff in ("continue", "", "j", "i + j")
    init, cond, step = control_head(rng, kind, declared)
    count = "100" if lay == "[]" else "20 * THREADS"
    top = "".join(f"shared {lay} int {v}{number}[{count}];" for v in "afz")
    top += f"shared {lay2} int b{number}[60 * THREADS];"
    top += f"shared {rng.choice(['[2]', '[4]', '[6]'])} int w{number}[20 * THREADS][2];"
    down = re.search(r"\bi -=|\bi = i -|\bi--|--i\b|\+= -1", step)
    inside = control_body(rng, number, plain, racy, down)
    text = (f"static void NAME(void) {{ int hi = N - 1, lo = 2, j = 0, st = 2; int *q = &hi;"
            f" shared LAY int *p = A; {'' if declared else kind + ' i = 0;'}"
            f" (void)q; (void)p; (void)st; (void)lo; (void)j;"
            f" LOOP({init} | {cond} | {step} | {aff}) {{ {inside} }}"
            f" {'' if declared else 'mark(i);'} goto out; out: mark(j); mark(hi); }}")
    if "q" not in inside + cond:
        text = text.replace(" int *q = &hi;", "").replace(" (void)q;", "")
    return top, text, "[20]" if lay == "[*]" else lay, aff


def rendered(text, number, lay, aff, oracle):
    """The text as an upc_forall, or as a `for` that tests the affinity."""
    controls = aff not in ("continue", "")
    head = text[text.index("LOOP(") + 5:text.index(") {", text.index("LOOP("))]
    init, cond, step, _ = [w.strip() for w in head.split("|")]
    test = {"": "1", "continue": "1"}.get(aff, f"AT({aff})" if aff[:1] in "&pW" or "?" in aff else
                                          f"MINE({aff})")
    new = f"upc_forall ({init}; {cond}; {step}; {aff})"
    second = r"upc_forall (\1; \2; \3; \4)"
    if oracle:
        new = f"for ({init}; {cond}; {step}) if ({test})"
        second = r"for (\1; \2; \3) if (" + ("1 || " if controls else "") + r"OF(\4))"
    text = text.replace(f"LOOP({head})", new)
    text = re.sub(r"LOOP2\((.*?), (.*?), (.*?), (.*?)\)(?= [m{])", second, text)
    text = text.replace("OF(k)", "MINE(k)").replace("OF(&F[k])", "AT(&F[k])")
    text = text.replace("CALLED", str(int(oracle) * (1 + controls)))
    array = f"z{number}" if oracle else f"a{number}"
    text = text.replace("NAME", ("o" if oracle else "u") + f"loop{number}").replace("LAY", lay)
    for word, name in (("A", array), ("F", f"f{number}"), ("B", f"b{number}"),
                       ("W", f"w{number}")):
        text = re.sub(rf"\b{word}\b", name, text)
    return text


def control(rng, number):
    """Declarations and code of one loop whose control is drawn."""
    top, text, lay, aff = control_text(rng, number)
    n = number
    top += (f"\nstatic void inner{n}(int how) {{ if (how == 0) {{"
            f" upc_forall (int i = 0; i < 9; i++; &f{n}[i]) mark(i + f{n}[i]); }} else"
            f" for (int i = 0; i < 9; i++) if (how == 2 || AT(&f{n}[i])) mark(i + f{n}[i]); }}\n")
    top += rendered(text, n, lay, aff, False) + "\n" + rendered(text, n, lay, aff, True)
    reset = "trace = calls = 0; many = 0; base_of = 3;"
    code = (f"  for (int i = MYTHREAD; i < N; i += THREADS) {{ f{n}[i] = (i * 37 + {n}) % 101;"
            f" a{n}[i] = z{n}[i] = i; }} upc_barrier; {{ {reset} uloop{n}(); upc_barrier;"
            f" const unsigned long t = trace, c = calls; {reset} oloop{n}();"
            f" same({n}, -1, t, trace); same({n}, -2, c, calls); upc_barrier;"
            f" for (int i = 0; i < N; i++) same({n}, i, a{n}[i], z{n}[i]); }} upc_barrier;")
    return top, code


def index(rng, reach):
    """Text of an index, and its distance from the loop's variable."""
    d = rng.randint(-reach, reach)
    form = rng.randrange(3)
    if d == 0:
        return rng.choice(["i", "(i)", "i + 0"])
    if d > 0:
        return [f"i + {d}", f"{d} + i", f"(i + {d})"][form]
    return f"i - {-d}"


def body(rng, reach, column):
    """Statements of one loop: TO, FROM and OTHER stand for its arrays."""
    terms = []
    for _ in range(rng.randint(1, 4)):
        name = rng.choice(["FROM", "OTHER"])
        terms.append(f"{rng.randint(1, 5)} * {name}[{index(rng, reach)}]{column}")
    lines = [f"TO[i]{column} = {' - '.join(terms)};"]
    if rng.random() < 0.3:
        lines.insert(0, f"if (FROM[{index(rng, reach)}]{column} % 3 == 0) continue;")
    if rng.random() < 0.3:
        lines.append(f"TO[i]{column} += i;")
    if rng.random() < 0.2:
        lines.append("STRICT;")
        lines.append(f"TO[i]{column} ^= FROM[i]{column};")
    if rng.random() < 0.2:
        lines.append(f"for (int k = 0; k < 3; k++) {{ if (k == 1) continue; TO[i]{column}++; }}")
    return " ".join(lines)


def pointer_loop(rng, number, lay, to, first, last, text):
    """A loop by a pointer over the elements of `to`, and the step between its indices."""
    step = rng.choice([1, 1, 1, 2, 5])
    word = rng.choice([f"r += {step}", "r += 1 * step"]) if step > 1 else rng.choice(["r++", "++r"])
    begin = rng.choice([f"&{to}[{first}]", f"{to} + {first}"])
    limit, order = f"&{to}[{last}]", "<"
    if rng.random() < 0.3:
        limit, order = f"{to} + ({last}) - 1", "<="
    elif step == 1 and rng.random() < 0.3:
        order = "!="
    affinity = rng.choice(["r", "&*r", "&r[0]"])
    at = rng.choice(["(*r)", "r[0]"])
    return step, (f"  {{ {lay} *r; const int step = {step}; (void)step;"
                  f" upc_forall (r = {begin}; r {order} {limit}; {word}; {affinity}) {{"
                  f" const int i = r - {to}; {text.replace(to + '[i]', at)} }}"
                  f" same({number}, -1, (r - {to}), ({first}) >= ({last}) ? {first} : ({first}) +"
                  f" (({last}) - ({first}) + {step - 1}) / {step} * {step}); }}")


def loop(rng, number, by_pointer=False, down=False):
    """Declarations and code of one loop."""
    block = rng.choice(["", "[2]", "[3]", "[5]", "[8]", "[16]", "[*]", "[]"])
    row = 1 if by_pointer else rng.choice([1, 1, 1, 2])
    per = rng.choice([16, 30, 33])
    dims = f"[{per}]" if block == "[]" else f"[{per} * THREADS]"
    count = f"{per}" if block == "[]" else f"{per} * THREADS"
    if row > 1:
        block = rng.choice(["[4]", "[6]", "[16]"])
        dims, count = f"[{per} * THREADS][2]", f"{per} * THREADS"
    column = "[1]" if row > 1 else ""
    kind = rng.choice(["int", "long", "short"])
    names = [f"t{number}", f"f{number}", f"o{number}"]
    extra = "[2]" if row > 1 else ""
    top = [f"shared {block} {kind} {n}{dims}; static {kind} p{n}[{per} * 8]{extra};" for n in names]
    reach = rng.randint(0, 4)
    text = body(rng, reach, column)
    skip = rng.randint(0, 6) if block not in ("[*]", "") and row == 1 else 0
    first, last = reach + rng.randint(0, 5), f"{count} - {reach + skip + rng.randint(0, 3)}"
    level = f"const long n = {count}; (void)n;"
    code = [f"  {{ {level}"]
    code.append(f"  for (long i = 0; i < n; i++) {{ for (int k = 0; k < 3; k++) {{")
    code.append(f"    const long v = (i * 37 + k * 11 + {rng.randrange(50)}) % 101;")
    for k, n in enumerate(names):
        code.append(f"    if (k == {k}) {{ p{n}[i]{column} = v;"
                    f" if (i % THREADS == MYTHREAD) {n}[i]{column} = v; }}")
    code.append("  } } upc_barrier;")

    def with_names(words, strict):
        out = text
        for word, n in zip(("TO", "FROM", "OTHER"), words):
            out = out.replace(word, n)
        return out.replace("STRICT", strict)

    lay = f"shared [{per}] {kind}" if block == "[*]" else f"shared {block} {kind}"
    if skip:
        there = [f"q{n}" for n in names]
        for n, q in zip(names, there):
            code.append(f"  {lay} *{q} = &{n}[{skip}];")
        private = [f"(p{n} + {skip})" for n in names]
    else:
        there, private = names, [f"p{n}" for n in names]
    aff = rng.choice([f"&{there[0]}[i]", f"&{there[0]}[i]", f"&{there[1]}[i]", "i"])
    shared, step = with_names(there, "pulse[MYTHREAD]++"), 1
    if by_pointer:
        step, written = pointer_loop(rng, number, lay, there[0], first, last, shared)
        code.append(written)
    elif down:
        code.append(f"  upc_forall (int i = {last} - 1; i >= {first}; i--; {aff}) {{ {shared} }}")
    else:
        code.append(f"  upc_forall (int i = {first}; i < {last}; i++; {aff}) {{ {shared} }}")
    code.append(f"  for (int i = {first}; i < {last}; i += {step}) {{"
                f" {with_names(private, '(void)0')} }}")
    code.append("  upc_barrier;")
    code.append(f"  for (long i = 0; i < n; i++) same({number}, i, {names[0]}[i]{column},"
                f" p{names[0]}[i]{column});")
    code.append("  upc_barrier; }")
    return "\n".join(top), "\n".join(code)


def agrees(program, threads, what):
    """Whether a run of the program finds no difference."""
    try:
        run = subprocess.run([TOMBOLO, "run", "-n", str(threads), program], check=False,
                             capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        print(what, "no end after 60 s")
        return False
    if run.returncode:
        print(what, run.stdout[:600], run.stderr[:300])
    return run.returncode == 0


def run_all(head, loops, builds):
    """Number of runs that fail of a program of these loops."""
    text = head + "\n".join(top for top, _ in loops) + "\n"
    for k, (_, code) in enumerate(loops):  # functions of their own, for cc is slow with a huge one
        text += f"__attribute__((noinline)) static void part{k}(void) {{\n{code}\n}}\n"
    text += "int main(void) {\n"
    text += "".join(f"  part{k}();\n" for k in range(len(loops))) + "  return bad ? 1 : 0;\n}\n"
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "r.upc"), os.path.join(folder, "r")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        for options, threads in builds:
            built = subprocess.run([TOMBOLO, "upcc", *options, source, "-o", program], check=False)
            if built.returncode:
                return failures + 1
            for n in threads:
                if not agrees(program, n, f"{options} {n} threads:"):
                    failures += 1
        if failures and len(sys.argv) > 3:
            with open(sys.argv[3], "w", encoding="utf-8") as file:
                file.write(text)
    return failures


def main():
    if len(sys.argv) > 2:
        rng = random.Random(int(sys.argv[1]))
        controlled = [([o], (1, 2, 3, 4)) for o in ("-O0", "-O2")] + [(["-O2", "-T", "3"], (3,))]
        failures = run_all(HEAD + CONTROL_HEAD, [control(rng, k) for k in range(int(sys.argv[2]))],
                           controlled)
        print(f"random_forall: seed {sys.argv[1]}, {failures} failures")
        return 1 if failures else 0
    rng = random.Random(10)
    loops = [loop(rng, k) for k in range(LOOPS)]
    loops += [loop(rng, k, True) for k in range(LOOPS, LOOPS + BY_POINTER)]
    loops += [loop(rng, k, False, True) for k in range(LOOPS + BY_POINTER, ALL)]
    failures = run_all(HEAD, loops, [(["-O2"], (1, 2, 3, 4)), (["-O2", "-T", "3"], (3,)),
                                     (["-O0"], (3,)), (["-O1", "--pointers=wide"], (2,))])
    rng = random.Random(11)
    failures += run_all(HEAD + CONTROL_HEAD, [control(rng, k) for k in range(CONTROL)],
                        [(["-O1"], (1, 3, 5)), (["-O0", "-T", "2"], (2,))])
    print(f"random_forall: {ALL + CONTROL} loops, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
