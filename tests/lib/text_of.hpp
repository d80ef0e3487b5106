/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text_of.hpp: the message of an exception, for tests of C++.
 *
 * Owns nothing. Included by tests that check refusals. Calls the function that it is given.
 * Invariant: an exception that is no std::exception ends the test.
 */
#ifndef TMB_TEST_TEXT_OF_HPP
#define TMB_TEST_TEXT_OF_HPP

#include <exception>
#include <string>

/* Calls f. Returns the text of its exception, or "" if it throws none. */
template <class F> std::string text_of(F f) {
  try {
    f();
  } catch (const std::exception &e) {
    return e.what();
  }
  return "";
}

#endif
