/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/inside/trace.hpp: output when an exception is not caught: rank, text and lines.
 *
 * Called by job.hpp. Calls backtrace(3), where the system has it, and the command addr2line, which
 * names functions and lines of programs compiled with -g. Invariants: runs in the terminate
 * handler, where the stack of the throw is still there because nobody catches the exception;
 * without one of its means it prints less, and never fails.
 */
#ifndef TOMBOLO_CXX_INSIDE_TRACE_HPP
#define TOMBOLO_CXX_INSIDE_TRACE_HPP

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#if defined(__has_include)
# if __has_include(<execinfo.h>)
#  include <execinfo.h>
#  define TOMBOLO_CXX_HAS_BACKTRACE 1
# endif
#endif

#include "../base.hpp"

namespace tombolo {
namespace detail {

/* A file that is mapped as code. Position-independent: addresses in it count from its base. */
struct module {
  uintptr_t base;
  char path[4100];
};

/* Finds the module of an address in the maps of this process. */
inline bool find_module(uintptr_t addr, module *found) {
  std::FILE *const maps = std::fopen("/proc/self/maps", "r");
  if (!maps) return false;
  char line[4500], flags[8];
  unsigned long begin, end, offset;
  bool is_there = false;
  found->base = 0;
  while (!is_there && std::fgets(line, sizeof line, maps)) {
    found->path[0] = 0;
    if (std::sscanf(line, "%lx-%lx %7s %lx %*s %*s %4099[^\n]", &begin, &end, flags, &offset,
                    found->path) < 4)
      continue;
    if (offset == 0) found->base = begin;
    is_there = addr >= begin && addr < end && flags[2] == 'x' && found->path[0] == '/';
  }
  std::fclose(maps);
  return is_there;
}

/* Whether a file is a library or a position-independent program: ELF type 3 (ET_DYN). */
inline bool is_relative(const char *path) {
  unsigned char head[18] = {};
  std::FILE *const file = std::fopen(path, "rb");
  if (!file) return true;
  const bool whole = std::fread(head, 1, sizeof head, file) == sizeof head;
  std::fclose(file);
  return !whole || head[16] == 3;
}

/* Whether a file is one of the libraries that throw and unwind; `any`: or that of C. */
inline bool is_runtime(const char *path, bool any) {
  for (const char *name : {"/libstdc++.so", "/libgcc_s.so", "/libc++", "/libunwind"})
    if (std::strstr(path, name)) return true;
  return any && (std::strstr(path, "/libc.so") || std::strstr(path, "/libc-"));
}

/* Prints a line in one write, unless it is very long: formatted texts of more than 128 bytes go to
 * stderr in pieces, between which other ranks may write. in indent: in front of the text. */
inline void print_line(const char *indent, const char *text) {
  char line[4500];
  const int length =
      std::snprintf(line, sizeof line, "tombolo: rank %u: %s%s\n", rank(), indent, text);
  if (length < static_cast<int>(sizeof line))
    std::fputs(line, stderr);
  else
    std::fprintf(stderr, "tombolo: rank %u: %s%s\n", rank(), indent, text);
}

/* Prints one frame: functions, inlined ones first, and lines if addr2line finds them, otherwise the
 * place in the file. The caller of main is left out. */
inline void print_frame(const module &m, uintptr_t addr) {
  char text[4400] = "", command[4400];
  const unsigned long at = is_relative(m.path) ? addr - m.base : addr;
  bool found = false;
  std::snprintf(command, sizeof command, "addr2line -Cfpie '%s' %#lx 2>/dev/null", m.path, at);
  std::FILE *const pipe = !std::strchr(m.path, '\'') ? popen(command, "r") : nullptr;
  while (pipe && std::fgets(text, sizeof text, pipe)) {
    text[std::strcspn(text, "\n")] = 0;
    if (std::strncmp(text, "??", 2) == 0) continue;
    found = true;
    if (char *const more = std::strstr(text, " (discriminator")) *more = 0;
    if (std::strncmp(text, "_start at ", 10) != 0) print_line("  ", text);
  }
  if (pipe) pclose(pipe);
  std::snprintf(text, sizeof text, "%s + %#lx", m.path, at);
  if (!found) print_line("  ", text);
}

/* An address inside the call of a frame. */
inline uintptr_t frame_address(const void *frame) {
  return reinterpret_cast<uintptr_t>(frame) - 1;
}

/* Prints the frames of this thread that lie below those of the language's runtime. */
inline void print_trace() {
#ifdef TOMBOLO_CXX_HAS_BACKTRACE
  enum { MOST = 32, SHOWN = 12 };
  void *frames[MOST];
  const int count = backtrace(frames, MOST);
  module m;
  int first = 0; /* frames before it are the end of the program, not its cause */
  for (int i = 0; i < count && i < 8; i++)
    if (find_module(frame_address(frames[i]), &m) && is_runtime(m.path, false)) first = i + 1;
  for (int i = first, shown = 0; i < count && shown < SHOWN; i++) {
    const uintptr_t addr = frame_address(frames[i]);
    if (!find_module(addr, &m) || is_runtime(m.path, true)) continue;
    print_frame(m, addr);
    shown++;
  }
#endif
}

/* The terminate handler of a program with a job. Only one thread of a rank prints. */
[[noreturn]] inline void on_terminate() {
  static thread_local bool inside = false;
  if (inside) std::abort();
  inside = true;
  const char *why = "std::terminate was called without an exception";
  const std::exception_ptr thrown = std::current_exception(); /* keeps what() */
  if (thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception &e) {
      why = e.what();
    } catch (...) {
      why = "an exception that is no std::exception";
    }
  }
  std::fflush(stdout);
  print_line("", why);
  print_trace();
  std::fflush(stderr);
  gasnet_exit(1);
}

} // namespace detail
} // namespace tombolo

#endif
