// SPDX-License-Identifier: BSD-3-Clause
// A C++ program that starts PRIF late, in Fortran that it calls: late.f90. Registers a stop
// callback by the name that flang's calls have.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

extern "C" {
using callback = void(const bool *, const bool *, const std::int32_t *, const char *, std::size_t);
void _QMprifPprif_register_stop_callback(callback *const *);
std::int32_t work_of(std::int32_t *data, std::int32_t count);
[[noreturn]] void leave(std::int32_t code);

static void say(const char *name, const bool *is_error, const bool *quiet, const std::int32_t *code,
                const char *text) {
  std::cout << name << " " << *is_error << *quiet << " " << (code ? *code : -1) << " "
            << (text ? "text" : "none") << std::endl;
}
static void first(const bool *e, const bool *q, const std::int32_t *c, const char *t, std::size_t) {
  say("first", e, q, c, t);
}
static void second(const bool *e, const bool *q, const std::int32_t *c, const char *t,
                   std::size_t) {
  say("second", e, q, c, t);
}
}

int main(int argc, char **argv) {
  std::vector<std::int32_t> data(1000, 1); // memory of C++, before the library has started
  callback *one = first, *two = second;
  const std::int32_t total = work_of(data.data(), static_cast<std::int32_t>(data.size()));
  std::cout << "sum " << total << " of " << argc << (argv[0] ? "" : "?") << std::endl;
  _QMprifPprif_register_stop_callback(&one);
  _QMprifPprif_register_stop_callback(&two);
  leave(total > 0 ? 6 : 1);
}
