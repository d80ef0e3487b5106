/* SPDX-License-Identifier: BSD-3-Clause */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 TOMBOLO_TEST_SHM=0 SHMEM_DEBUG=1 */
/*
 * Global and static variables are symmetric: initialised and zero ones, of any size, also changed
 * before the start; a child of fork() has copies of its own.
 */
#include "check.h"

#include <shmem.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long initialised = 5;
long zeros[3000];
static char large[4 << 20];
static const char *text = "kept";
long before;

static void check_put(int me, int n) {
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  shmem_p(&initialised, 100L + me, right);
  shmem_p(&zeros[2999], 200L + me, right);
  char line[64];
  memset(line, 'a' + me % 26, sizeof line);
  shmem_putmem(&large[sizeof large - 64], line, 64, right);
  shmem_barrier_all();
  CHECK_EQ(initialised, 100 + left);
  CHECK_EQ(zeros[2999], 200 + left);
  CHECK_EQ(zeros[2998], 0);
  CHECK_EQ(large[sizeof large - 1], 'a' + left % 26);
  CHECK_EQ(large[sizeof large - 65], 0);
  CHECK_EQ(shmem_g(&before, right), 77 + right);
  CHECK_STR(text, "kept");
  CHECK_EQ(shmem_addr_accessible(&zeros[1], right), 1);
  CHECK_EQ(shmem_addr_accessible(line, right), 0);
}

static void check_fork(int me) {
  before = 11 + me;
  const pid_t child = fork();
  if (child == 0) {
    const int kept = before == 11 + me;
    before = 12;
    _exit(kept ? 3 : 4);
  }
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(WEXITSTATUS(status), 3);
  CHECK_EQ(before, 11 + me);
}

int main(void) {
  before = 77; /* before the start */
  CHECK_EQ(initialised, 5);
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  before += me;
  shmem_barrier_all();
  check_put(me, n);
  shmem_barrier_all();
  check_fork(me);
  shmem_finalize();
  return check_done();
}
