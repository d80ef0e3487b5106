/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* expect: 1 */
/* match: (?s)\A(?!.*(_start at|discrim)).*rank 0: the table is empty.*look_up.*_thrown.cc:1[0-9] */
/* An exception that leaves the function of tombolo::run ends the job; rank and what() are printed,
 * and the functions and lines that led to it, also in a folder with a blank. */
#include "tombolo.hpp"

#include <sys/mman.h>
#include <unistd.h>

/* Not inlined, and with something to clean up, which does not hide the place of the throw. */
__attribute__((noinline)) static int look_up(const std::string &name) {
  const std::vector<int> table(name.size());
  if (table.size() == 1) throw std::runtime_error("the table is empty");
  return table[1];
}

/* Whether code of a file with a blank in its name is found by the whole name. */
static bool finds_blank() {
  static tombolo::detail::module m;
  const size_t bytes = 4096;
  const int fd = memfd_create("a clone", 0);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return false;
  void *const code = mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  close(fd);
  if (code == MAP_FAILED) return false;
  const bool found = tombolo::detail::find_module(reinterpret_cast<uintptr_t>(code), &m);
  munmap(code, bytes);
  return found && std::strcmp(m.path, "/memfd:a clone (deleted)") == 0;
}

int main(int argc, char **argv) {
  if (!finds_blank()) return 2;
  return tombolo::run(argc, argv, [](tombolo::job &job) {
    const tombolo::team half = job.world().split(0);
    if (job.rank() == 0) return look_up("a");
    half.barrier(); /* which rank 0 never enters: it ends the job instead of waiting for others */
    return 0;
  });
}
