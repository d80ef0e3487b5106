/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of os/memfd: anonymous shared memory with and without memfd_create, and its limits.
 */
#define _GNU_SOURCE

#include "base/capture_test.h"
#include "base/config.h"
#include "base/error.h"
#include "base/unit_test.h"
#include "os/memory/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 65536

/* Data written through one mapping are seen through another, in another process. */
static void check_sharing(int fd) {
  char why[TMB_MEMFD_WHY_BYTES] = "";
  assert_cmp(fd, >=, 0);
  assert_int_equal(tmb_memfd_bytes(fd), 0);
  assert_int_equal(tmb_memfd_resize(fd, BYTES, why, sizeof why), TMB_OK);
  assert_int_equal(tmb_memfd_bytes(fd), BYTES);
  volatile int *shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_ptr_not_equal((void *)shared, MAP_FAILED);
  assert_int_equal(shared[1000], 0);
  const pid_t child = fork();
  if (child == 0) {
    int *mine = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mine != MAP_FAILED) mine[1000] = 4711;
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(shared[1000], 4711);
  munmap((void *)shared, BYTES);
}

static void check_nameless(int fd) {
  struct stat st;
  assert_int_equal(fstat(fd, &st), 0);
  assert_int_equal(st.st_nlink, 0);
  assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

TEST(shares_memory) {
  for (int avoid = 0; avoid < 2; avoid++) {
    const int fd = tmb_memfd_create("tombolo-test", avoid);
    check_sharing(fd);
    check_nameless(fd);
    close(fd);
  }
}

TEST(falls_back_behind_a_bad_folder) {
  tmb_env_set("GASNET_TMPDIR", "/proc/nonexistent/folder");
  const int fd = tmb_memfd_create("tombolo-test", true);
  tmb_env_unset("GASNET_TMPDIR");
  check_sharing(fd);
  close(fd);
}

/* A file gets a large size at once, and takes no memory before it is touched. */
TEST(large_files_are_empty) {
  char why[TMB_MEMFD_WHY_BYTES] = "";
  struct stat st;
  const int fd = tmb_memfd_create("tombolo-test", true);
  assert_cmp(fd, >=, 0);
  if (tmb_memfd_space(fd) > UINT64_C(1) << 30) {
    assert_int_equal(tmb_memfd_resize(fd, UINT64_C(1) << 30, why, sizeof why), TMB_OK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_cmp(st.st_blocks, <=, 8);
  }
  close(fd);
}

TEST(switches_close_on_exec) {
  const int fd = tmb_memfd_create("tombolo-test", false);
  assert_int_equal(tmb_memfd_cloexec(fd, false), TMB_OK);
  assert_false(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  assert_int_equal(tmb_memfd_cloexec(fd, true), TMB_OK);
  assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  close(fd);
  assert_int_equal(tmb_memfd_cloexec(fd, true), TMB_E_SYS);
  assert_int_equal(tmb_memfd_bytes(fd), TMB_E_SYS);
}

/* In a child, because the limit cannot be raised again: the exit code tells the fault. */
static int resize_beyond_the_limit(void) {
  char why[TMB_MEMFD_WHY_BYTES] = "";
  const struct rlimit limit = {1 << 20, 1 << 20};
  const int fd = tmb_memfd_create("tombolo-test", false);
  if (fd < 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  if (tmb_memfd_resize(fd, 1 << 20, why, sizeof why) != TMB_OK) return 3;
  if (tmb_memfd_resize(fd, (1 << 20) + 1, why, sizeof why) != TMB_E_LIMIT) return 4;
  if (tmb_memfd_bytes(fd) != 1 << 20) return 5;
  if (!strstr(why, "1.00 MB") || !strstr(why, "ulimit -f")) return 6;
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGXFSZ) ? 7 : 0;
}

TEST(reports_the_file_size_limit) {
  int status;
  const pid_t child = fork();
  if (child == 0) _exit(resize_beyond_the_limit());
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status != 0) fail_msg("child: wait status 0x%x", (unsigned)status);
}

static void create_without_descriptors(void *arg) {
  (void)arg;
  const struct rlimit limit = {0, 0};
  CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHILD_CHECK(tmb_memfd_create("tombolo-test", false) == TMB_E_SYS);
}

/* another folder would fail, too */
TEST(names_the_limit_on_open_files) {
  static struct capture all;
  assert_int_equal(capture_run(&all, create_without_descriptors, NULL), 0);
  assert_int_equal(all.status, 0);
  assert_non_null(strstr(all.text, "(memfd_create: Too many open files); raise 'ulimit -n'"));
  assert_null(strstr(all.text, "GASNET_TMPDIR"));
}

TEST(refuses_impossible_sizes) {
  char why[TMB_MEMFD_WHY_BYTES] = "";
  const int fd = tmb_memfd_create("tombolo-test", false);
  assert_int_equal(tmb_memfd_resize(fd, UINT64_MAX, why, sizeof why), TMB_E_LIMIT);
  assert_non_null(strstr(why, "asked for"));
  close(fd);
  assert_int_equal(tmb_memfd_resize(fd, 4096, why, sizeof why), TMB_E_SYS);
  assert_non_null(strstr(why, strerror(EBADF)));
}

int main(void) {
  return unit_run(NULL, NULL);
}
