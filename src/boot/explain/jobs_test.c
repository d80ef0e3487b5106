/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the search for jobs of another version.
 *
 * Owns: no state. Run by ctest. Calls: boot/explain/snapshot.h. Invariants: the memory that stands
 * for a control block goes with its descriptor; a job of any version may run beside the test.
 */
#define _GNU_SOURCE
#include "base/unit_test.h"
#include "boot/explain/snapshot.h"
#include "os/memory/memfd.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory as a launcher has it, whose first word is this one. */
static int holding(uint64_t magic) {
  const uint64_t head[2] = {magic, 1};
  const int fd = tmb_memfd_create("tombolo-ctl", false);
  assert_cmp(fd, >=, 0);
  assert_int_equal(pwrite(fd, head, sizeof head, 0), sizeof head);
  return fd;
}

TEST(a_job_of_another_version_is_seen) {
  assert_false(tmb_job_is_of_other_version(getpid()));
  const int fd = holding(TMB_CTL_MAGIC ^ 1);
  assert_true(tmb_job_is_of_other_version(getpid()));
  assert_int_not_equal(tmb_jobs_other_version(), 0);
  close(fd);
  assert_false(tmb_job_is_of_other_version(getpid()));
}

TEST(a_job_beside_is_another_process) {
  const int fd = holding(TMB_CTL_MAGIC ^ 1);
  const pid_t child = fork();
  assert_cmp(child, >=, 0);
  if (child == 0) {
    alarm(60);
    for (;;) pause();
  }
  close(fd);
  assert_true(tmb_job_is_of_other_version(child));
  assert_false(tmb_job_is_of_other_version(getpid()));
  assert_int_not_equal(tmb_jobs_other_version(), 0);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(other_memory_is_not_one) {
  const int same = holding(TMB_CTL_MAGIC), none = holding(TMB_CTL_MAGIC << 16);
  assert_false(tmb_job_is_of_other_version(getpid()));
  close(same);
  close(none);
}

int main(void) {
  return unit_run(NULL, NULL);
}
