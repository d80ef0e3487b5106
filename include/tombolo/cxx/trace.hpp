/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/trace.hpp: output when an exception is not caught: rank, text and lines.
 *
 * Called by job.hpp. Calls backtrace(3), where the system has it, and the command addr2line, which
 * names functions and lines of programs compiled with -g. Invariants: runs in the terminate
 * handler, where the stack of the throw is still there because nobody catches the exception;
 * without one of its means it prints less, and never fails.
 */
#ifndef TOMBOLO_CXX_TRACE_HPP
#define TOMBOLO_CXX_TRACE_HPP

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#if defined(__has_include)
# if __has_include(<execinfo.h>)
#  include <execinfo.h>
#  define TOMBOLO_CXX_HAS_BACKTRACE 1
# endif
#endif

#include "base.hpp"

namespace tombolo {
namespace detail {

/* A file that is mapped as code. Position-independent: addresses in it count from its base. */
struct module {
  uintptr_t begin, end, base;
  std::string path;
};

/* The modules of this process that contain code. */
inline std::vector<module> modules() {
  std::vector<module> found;
  std::FILE *const maps = std::fopen("/proc/self/maps", "r");
  if (!maps) return found;
  char line[4500], path[4100], flags[8];
  unsigned long begin, end, offset;
  uintptr_t base = 0;
  while (std::fgets(line, sizeof line, maps)) {
    path[0] = 0;
    if (std::sscanf(line, "%lx-%lx %7s %lx %*s %*s %4099s", &begin, &end, flags, &offset, path) < 4)
      continue;
    if (offset == 0) base = begin;
    if (flags[2] == 'x' && path[0] == '/') found.push_back({begin, end, base, path});
  }
  std::fclose(maps);
  return found;
}

/* Whether a file is a library or a position-independent program: ELF type 3 (ET_DYN). */
inline bool is_relative(const std::string &path) {
  unsigned char head[18] = {};
  std::FILE *const file = std::fopen(path.c_str(), "rb");
  if (!file) return true;
  const bool whole = std::fread(head, 1, sizeof head, file) == sizeof head;
  std::fclose(file);
  return !whole || head[16] == 3;
}

/* Whether a file is one of the libraries that throw and unwind; `any`: or that of C. */
inline bool is_runtime(const std::string &path, bool any) {
  for (const char *name : {"/libstdc++.so", "/libgcc_s.so", "/libc++", "/libunwind"})
    if (path.find(name) != std::string::npos) return true;
  return any &&
         (path.find("/libc.so") != std::string::npos || path.find("/libc-") != std::string::npos);
}

/* Prints one line of a trace. */
inline void print_line(const char *text) {
  std::fprintf(stderr, "tombolo: rank %u:   %s\n", rank(), text);
}

/* Prints one frame: functions, inlined ones first, and lines if addr2line finds them, otherwise the
 * place in the file. */
inline void print_frame(const module &m, uintptr_t addr) {
  char text[4400] = "", command[4400];
  const unsigned long at = is_relative(m.path) ? addr - m.base : addr;
  bool found = false;
  std::snprintf(command, sizeof command, "addr2line -Cfpie '%s' %#lx 2>/dev/null", m.path.c_str(),
                at);
  std::FILE *const pipe = m.path.find('\'') == std::string::npos ? popen(command, "r") : nullptr;
  while (pipe && std::fgets(text, sizeof text, pipe)) {
    text[std::strcspn(text, "\n")] = 0;
    if (std::strncmp(text, "??", 2) == 0) continue;
    print_line(text);
    found = true;
  }
  if (pipe) pclose(pipe);
  std::snprintf(text, sizeof text, "%s + %#lx", m.path.c_str(), at);
  if (!found) print_line(text);
}

/* Prints the frames of this thread that lie below those of the language's runtime. */
inline void print_trace() {
#ifdef TOMBOLO_CXX_HAS_BACKTRACE
  enum { MOST = 32, SHOWN = 12 };
  void *frames[MOST];
  const int count = backtrace(frames, MOST);
  const std::vector<module> all = modules();
  std::vector<std::pair<const module *, uintptr_t>> shown;
  for (int i = 0; i < count; i++) {
    const uintptr_t addr = reinterpret_cast<uintptr_t>(frames[i]) - 1; /* inside the call */
    for (const module &m : all) {
      if (addr < m.begin || addr >= m.end) continue;
      if (is_runtime(m.path, false) && i < 8)
        shown.clear(); /* frames above are the end of the program, not its cause */
      else if (!is_runtime(m.path, true))
        shown.push_back({&m, addr});
    }
  }
  for (size_t i = 0; i < shown.size() && i < SHOWN; i++)
    print_frame(*shown[i].first, shown[i].second);
#endif
}

/* The terminate handler of a program with a job. Only one thread of a rank prints. */
[[noreturn]] inline void on_terminate() {
  static thread_local bool inside = false;
  if (inside) std::abort();
  inside = true;
  std::string why = "std::terminate was called without an exception";
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception &e) {
      why = e.what();
    } catch (...) {
      why = "an exception that is no std::exception";
    }
  }
  std::fflush(stdout);
  std::fprintf(stderr, "tombolo: rank %u: %s\n", rank(), why.c_str());
  print_trace();
  std::fflush(stderr);
  gasnet_exit(1);
}

} // namespace detail
} // namespace tombolo

#endif
