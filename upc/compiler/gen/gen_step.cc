// SPDX-License-Identifier: BSD-3-Clause
/*
 * upc_forall by another step than 1, `i += STEP` or `i -= STEP`, over this thread's iterations
 * alone.
 *
 * Called by gen_forall.cc, which has the pattern. Invariants: STEP is invariant; where it is not
 * positive when the loop runs, or the loop's variable cannot hold its final value, the plain loop
 * runs. In blocks of one index, this thread's iterations come at equal distances: every THREADS /
 * gcd(THREADS, STEP)th one, or none. In longer blocks each of this thread's is tested for indices
 * that the loop meets.
 */
#include "gen/gen.h"

// Declares a loop's step and end, and adds a condition under which the fast form does not fit.
void Generator::take_step(Node *step, OwnLoop &l, bool is_signed) {
  const std::string bound = "(long)(" + l.bound + ")", i = "(long)" + l.counter;
  const std::string stop = !l.including ? bound : bound + (l.down ? " - 1" : " + 1");
  l.step = fresh("s");
  l.end = fresh("n");
  l.before = " const long " + l.step + " = (long)(" + code(step->kids[1]) + "), " + l.end +
             " = upcr_end(" + i + ", " + stop + ", " + l.step + ", " + (l.down ? "1" : "0") + ");";
  l.fits += " || " + l.step + " <= 0 || upcr_endless(" + i + ", " + l.end + ", (long)(__typeof__(" +
            l.counter + "))" + l.end + ", " + (is_signed ? "1)" : "0)");
}

// This thread's iterations where a block has one index.
std::string Generator::step_singles(const OwnLoop &l, const std::string &body) {
  const std::string k = fresh("k"), by = fresh("s"), from = fresh("i"), period = fresh("p");
  const std::string row = fresh("r"), at = l.position;
  return "(void)" + l.block + ", (void)" + l.first + ", (void)" + l.last + "; const long " + from +
         " = " + (l.down ? l.last + " - 1" : l.first) + ", " + by + " = " + (l.down ? "-" : "") +
         l.step + ", " + period + " = upcr_period(" + by + "), " + row + " = upcr_row_of(" +
         period + " * " + by + "); long " + k + " = upcr_first_step(" + from + " + " + l.at + ", " +
         by + "); if (" + k + " >= 0) for (long " + at + " = upcr_row_of(" + from + " + " + l.at +
         " + " + k + " * " + by + "); " + k + " < (" + l.end + " - " + from + ") / " + by + "; " +
         k + " += " + period + ", " + at + " += " + row + ") {" + l.counter + " = " + from + " + " +
         k + " * " + by + "; {" + body + "} }";
}

// The head of a loop over the indices from `from` to before `to` that the step meets; `row` is the
// position of index 0.
std::string Generator::step_part(const OwnLoop &l, const std::string &row, const std::string &from,
                                 const std::string &to) {
  const std::string i = l.counter, end = fresh("e"), begin = fresh("i"), at = l.position;
  const std::string high = "(" + to + " - 1)", start = l.down ? "(" + l.last + " - 1)" : l.first;
  const std::string meets =
      l.down ? high + " - upcr_rest(" + high + " - " + start + ", " + l.step + ")"
             : from + " + upcr_rest(" + start + " - " + from + ", " + l.step + ")";
  const std::string sign = l.down ? " -= " : " += ";
  return "const long " + begin + " = " + meets + "; " + i + " = " + begin + "; for (long " + at +
         " = " + row + " + " + begin + ", " + end + " = " + row + " + " +
         (l.down ? from + " - 1; " : to + "; ") + at + (l.down ? " > " : " < ") + end + "; " + at +
         sign + l.step + ", " + i + sign + l.step + ") {";
}
