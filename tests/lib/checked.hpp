/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checked.hpp: the main function and helpers of tests of tombolo.hpp.
 *
 * Owns nothing. Included by tests of C++. Calls check.h, tombolo.hpp and the functions that it is
 * given. Invariant: an exception that is no std::exception ends the test.
 */
#ifndef TMB_TEST_CHECKED_HPP
#define TMB_TEST_CHECKED_HPP

#include <exception>
#include <initializer_list>
#include <string>
#include <utility>

#include "check.h"
#include "tombolo.hpp"

/* Calls f. Returns the text of its exception, or "" if it throws none. */
template <class F> std::string text_of(F f) {
  try {
    f();
  } catch (const std::exception &e) {
    return e.what();
  }
  return "";
}

/* A whole program: every rank makes the checks, one after the other. Returns what main returns.
 * heap_bytes: as of tombolo::run. */
inline int run_checks(int argc, char **argv,
                      std::initializer_list<void (*)(const tombolo::job &)> checks,
                      size_t heap_bytes = 0) {
  const auto all = [checks](tombolo::job &j) {
    check_set_rank(j.rank());
    for (const auto check : checks) check(j);
    return check_done();
  };
  return tombolo::run(argc, argv, all, heap_bytes);
}

/* A value that has no default constructor and does not travel as bytes. */
class text_value {
public:
  explicit text_value(std::string s) : text_(std::move(s)) {}
  void write(tombolo::writer &out) const { out(text_); }
  static text_value read(tombolo::reader &in) { return text_value(in.read<std::string>()); }
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

#endif
