// SPDX-License-Identifier: BSD-3-Clause
/*
 * upc1: translates preprocessed UPC into C.
 *
 * Called by `tombolo upcc`. Calls: the parser and the generator. Invariants: exit status 0 only
 * when the output is complete; messages go to the standard error.
 */
// How the translation works.
//
// UPC is C with shared objects, whose parts lie in the memory of all threads. upc1 does not compile
// C. It reads the preprocessed text, leaves all C as it stands, token by token, and writes other C
// where an expression touches shared memory. The C compiler checks and optimises the rest.
//
// For that it must know the type of every expression, since only types say what is shared: in p->x
// the declaration of p decides. So it has a whole parser of C11 with GNU's extensions, which keeps
// for each node the range of its tokens (parse/, tree/). A type that only the C compiler knows is
// Unknown, and text that cannot be parsed is passed through, unless UPC's words are in it.
//
// Then gen/ writes each external declaration. A shared object becomes a static variable with
// its place, equal on all threads, which start.c of the run-time library fills. A pointer-to-shared
// becomes an integer of thread, phase and offset. A read or write becomes a call of upcr_get or
// upcr_put (upcr_access.h), which is inline: a load where the thread's memory is mapped here, else
// a message. upc_forall becomes a loop over the thread's own iterations, where the pattern of loop,
// affinity and accesses proves which they are (gen_pattern.cc); else each iteration is tested.
//
// Line markers lead messages and debuggers to the UPC text. Why it is right: relaxed accesses may
// be reordered by C's rules as UPC allows; strict ones are calls between fences; and the tests run
// each construct against the text of the standard.
#include "gen/gen.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

struct Arguments {
  Options options;
  std::string input = "-", output = "-", upc_folder;
};

// Options that stand alone. Returns whether s is one.
bool read_switch(const std::string &s, Options &o) {
  if (s == "-wide")
    pts_form() = {16, (1L << 31) - 1};
  else if (s == "-O0")
    o.optimise = false;
  else if (s == "-c23")
    o.c23 = true;
  else if (s == "-w")
    o.no_warnings = true;
  else if (s == "-Werror")
    o.warnings_are_errors = true;
  else if (s == "-pedantic-errors")
    o.pedantic = true;
  else
    return false;
  return true;
}

bool read_arguments(int argc, char **argv, Arguments &a) {
  for (int i = 1; i < argc; i++) {
    const std::string s = argv[i];
    if (s == "-o" && i + 1 < argc)
      a.output = argv[++i];
    else if (s == "-T" && i + 1 < argc)
      a.options.threads = atol(argv[++i]);
    else if (s == "-upc-headers" && i + 1 < argc)
      a.upc_folder = argv[++i];
    else if (read_switch(s, a.options))
      continue;
    else if (s[0] == '-' && s.size() > 1)
      return false;
    else
      a.input = s;
  }
  return true;
}

bool read_all(const std::string &name, std::string &text) {
  std::ostringstream all;
  if (name == "-") {
    all << std::cin.rdbuf();
  } else {
    std::ifstream in(name, std::ios::binary);
    if (!in) return false;
    all << in.rdbuf();
  }
  text = all.str();
  return true;
}

int translate(const Arguments &a, std::string text) {
  Source source(std::move(text), a.upc_folder);
  if (a.options.c23) source.take_c23();
  source.set_warnings(a.options.no_warnings, a.options.warnings_are_errors);
  Parser parser(source, a.options);
  Generator generator(source, a.options);
  use_generator(&generator);
  Writer writer(source);
  while (Node *n = parser.external()) writer.write(generator.external(n));
  writer.write(generator.end_of_file());
  if (source.errors()) return 1;
  const std::string out = writer.output() + "\n";
  if (a.output == "-") return fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : 1;
  std::ofstream file(a.output, std::ios::binary);
  file << out;
  file.close();
  if (file) return 0;
  fprintf(stderr, "upc1: %s: %s\n", a.output.c_str(), strerror(errno));
  return 1;
}

// Generated programs nest deeply; C compilers raise the limit of the stack for them too. The
// kernel reads it whenever the stack grows.
void deepen_stack() {
  const rlim_t enough = rlim_t{100} << 20;
  rlimit now;
  if (getrlimit(RLIMIT_STACK, &now) != 0 || now.rlim_cur >= enough) return;
  now.rlim_cur = std::min(enough, now.rlim_max);
  setrlimit(RLIMIT_STACK, &now);
}

} // namespace

int main(int argc, char **argv) {
  deepen_stack();
  Arguments a;
  if (!read_arguments(argc, argv, a)) {
    fprintf(stderr, "Usage: upc1 [-T THREADS] [-wide] [-c23] "
                    "[-upc-headers FOLDER] [-o OUTPUT] [INPUT]\n");
    return 2;
  }
  std::string text;
  if (!read_all(a.input, text)) {
    fprintf(stderr, "upc1: %s: %s\n", a.input.c_str(), strerror(errno));
    return 1;
  }
  return translate(a, std::move(text));
}
