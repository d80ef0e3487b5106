/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of boot: lists of ranks, the control block's states, barrier and allgather of many
 * ranks.
 */
#define _GNU_SOURCE

#include "base/atomic.h"
#include "base/capture_test.h"
#include "base/config.h"
#include "base/error.h"
#include "base/unit_test.h"
#include "boot/boot.h"
#include "boot/launch/invitation.h"
#include "boot/page/ctl.h"
#include "boot/page/ranklist.h"
#include "build_info.h"
#include "os/os.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_list(uint32_t size, const pid_t *pids, size_t bytes, const char *expected) {
  char buf[TMB_RANKLIST_BYTES];
  assert_cmp(bytes, <=, sizeof buf);
  assert_string_equal(tmb_ranklist_format(buf, bytes, size, pids), expected);
}

TEST(mark_names_the_release) {
  unsigned major, minor;
  assert_int_equal(sscanf(TMB_BUILD_VERSION, "%u.%u.", &major, &minor), 2);
  assert_int_equal(TMB_CTL_MAGIC >> 8 & 0xff, 16 * major + minor);
}

TEST(formats_rank_lists) {
  const pid_t some[] = {1, 1, 1, 0, 0, 1, 0, 1, 1};
  const pid_t none[] = {0, 0};
  expect_list(9, some, TMB_RANKLIST_BYTES, "0-2, 5, 7-8");
  expect_list(1, some, TMB_RANKLIST_BYTES, "0");
  expect_list(4, some + 3, TMB_RANKLIST_BYTES, "2");
  expect_list(2, none, TMB_RANKLIST_BYTES, "none");
  expect_list(9, some, 12, "0-2, 5, ...");
  expect_list(9, some, 11, "0-2, ...");
  expect_list(9, some, 8, "...");
  pid_t many[TMB_BOOT_RANKS_MAX];
  for (int i = 0; i < TMB_BOOT_RANKS_MAX; i++) many[i] = i % 2;
  char buf[TMB_RANKLIST_BYTES];
  tmb_ranklist_format(buf, sizeof buf, TMB_BOOT_RANKS_MAX, many);
  assert_cmp(strlen(buf), <, sizeof buf);
  assert_string_equal(buf + strlen(buf) - 5, ", ...");
}

static struct tmb_ctl *new_ctl(uint32_t size) {
  const struct tmb_ctl_job job = {.size = size, .hosts = 1, .only_host = TMB_CTL_ALL_HOSTS};
  struct tmb_ctl *ctl = NULL;
  int fd = -1;
  assert_int_equal(tmb_ctl_create(&job, false, &fd, &ctl), TMB_OK);
  assert_ptr_equal(tmb_ctl_map(fd, size + 1, ctl->job_id), NULL);
  assert_ptr_equal(tmb_ctl_map(fd, size, ctl->job_id + 1), NULL);
  struct tmb_ctl *again = tmb_ctl_map(fd, size, ctl->job_id);
  assert_non_null(again);
  tmb_ctl_unmap(again);
  close(fd);
  return ctl;
}

/* Settings ask at load for the rank that prints, before the process is a rank. */
TEST(names_who_speaks) {
  static const struct {
    const char *text;
    bool speaks;
  } row[] = {{"2:0:4:1f:77:3:4:5", true},
             {"2:3:4:1f:77:3:4:5", false},
             {"2:10:12:0:1:3:4:5", false},
             {"7:1:more of a later version", false},
             {"", true},
             {"2", true}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tmb_env_set("TOMBOLO_BOOT", row[i].text);
    if (tmb_boot_speaks() != row[i].speaks) fail_msg("\"%s\": %d", row[i].text, row[i].speaks);
  }
  tmb_env_unset("TOMBOLO_BOOT");
  assert_true(tmb_boot_speaks());
}

TEST(writes_what_it_reads) {
  const struct tmb_invitation in = {3, 1024, 0xfedcba9876543210u, 77, 3, 14, 15};
  struct tmb_invitation out;
  char text[TMB_LAUNCH_ENV_BYTES];
  tmb_invitation_write(&in, text, sizeof text);
  assert_true(tmb_invitation_read(text, &out));
  assert_memory_equal(&in, &out, sizeof in);
  assert_false(tmb_invitation_read("1:3:1024:fe:77:3:14:15", &out)); /* another version */
  assert_false(tmb_invitation_read("2:4:4:fe:77:3:14:15", &out));    /* no such rank */
  memcpy(text + strlen(text), ":", 2);
  assert_false(tmb_invitation_read(text, &out));
}

static void report_early(void *arg) {
  tmb_env_set("TOMBOLO_BOOT", arg);
  tmb_env_set("GASNET_VERBOSEENV", "1");
  tmb_env_report("SOME_NAME", "5", false);
}

/* The settings of base ask boot, which has registered at load. */
TEST(reports_are_held_back) {
  static struct capture cap;
  assert_int_equal(capture_run(&cap, report_early, "2:3:4:1f:77:3:4:5"), 0);
  assert_true(capture_ended_well(&cap));
  assert_string_equal(cap.text, "");
  assert_int_equal(capture_run(&cap, report_early, "2:0:4:1f:77:3:4:5"), 0);
  assert_non_null(strstr(cap.text, "SOME_NAME = 5"));
}

static void expect_state(struct tmb_ctl *ctl, uint32_t rank, enum tmb_rank_state state, int code) {
  const uint32_t word = tmb_ctl_state(ctl, rank);
  assert_int_equal(TMB_RANK_STATE(word), state);
  assert_int_equal(TMB_RANK_CODE(word), code);
}

TEST(keeps_own_and_imposed_ends_apart) {
  struct tmb_ctl *ctl = new_ctl(4);
  expect_state(ctl, 0, TMB_RANK_NEW, 0);
  assert_int_equal(tmb_ctl_join(ctl, 0, 17), TMB_OK);
  assert_int_equal(tmb_ctl_pid(ctl, 0), 17);
  assert_int_equal(tmb_ctl_joined(ctl), 1);
  assert_int_equal(tmb_ctl_join(ctl, 0, 18), TMB_E_STATE);
  assert_int_equal(tmb_ctl_pid(ctl, 0), 17);
  assert_true(tmb_ctl_record_exit(ctl, 0, 0x105));
  expect_state(ctl, 0, TMB_RANK_EXITING, 5);
  assert_false(tmb_ctl_record_exit(ctl, 0, 6));
  assert_int_equal(TMB_RANK_STATE(tmb_ctl_order_end(ctl, 0)), TMB_RANK_EXITING);
  expect_state(ctl, 0, TMB_RANK_EXITING, 5);

  assert_int_equal(tmb_ctl_join(ctl, 1, 19), TMB_OK);
  assert_int_equal(TMB_RANK_STATE(tmb_ctl_order_end(ctl, 1)), TMB_RANK_JOINED);
  assert_false(tmb_ctl_record_exit(ctl, 1, 7));
  expect_state(ctl, 1, TMB_RANK_ORDERED, 0);

  tmb_ctl_end(ctl);
  assert_int_equal(tmb_ctl_join(ctl, 2, 20), TMB_E_STATE);
  expect_state(ctl, 2, TMB_RANK_ORDERED, 0);
  assert_int_equal(tmb_ctl_joined(ctl), 2);
  tmb_ctl_unmap(ctl);
}

/* Whether a thread sleeps, as it only does in a wait of the kernel. */
static bool is_asleep(pid_t thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  FILE *f = fopen(path, "r");
  const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = '\0';
  const char *end = strrchr(text, ')');
  return end && end[1] && end[2] == 'S';
}

struct waiting {
  struct tmb_ctl *ctl;
  pid_t thread;
  bool completed;
  uint64_t ended_ns;
};

static void *wait_in_round(void *arg) {
  struct waiting *w = arg;
  tmb_store_rel(&w->thread, gettid());
  w->completed = tmb_ctl_barrier(w->ctl, &(struct tmb_ctl_round){.agent_fd = -1});
  w->ended_ns = tmb_os_now_ns();
  return NULL;
}

/* A rank that sleeps in a round of many looks for losses once a second: the loss wakes it. */
TEST(loss_wakes_a_round) {
  struct waiting w = {.ctl = new_ctl(TMB_BOOT_RANKS_MAX)};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, wait_in_round, &w), 0);
  while (!tmb_load_acq(&w.thread) || !is_asleep(tmb_load_acq(&w.thread))) usleep(1000);
  const uint64_t lost_ns = tmb_os_now_ns();
  assert_true(tmb_ctl_set_fate(w.ctl, 3, TMB_FATE(TMB_FATE_FAILED, 0, 9)));
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_false(w.completed);
  assert_cmp(w.ended_ns - lost_ns, <, 500000000u);
  tmb_ctl_unmap(w.ctl);
}

/* A rank of the job that the next test starts; the exit code says which round failed. */
static int gather_rounds(struct tmb_boot *boot) {
  uint64_t all[64][8];
  for (uint64_t round = 0; round < 200; round++) {
    const size_t words = 1 + round % 8;
    uint64_t mine[8];
    for (size_t i = 0; i < words; i++) mine[i] = round << 32 | boot->rank << 8 | i;
    tmb_boot_allgather(boot, mine, words * 8, all);
    for (uint32_t r = 0; r < boot->size; r++)
      for (size_t i = 0; i < words; i++)
        if (((uint64_t *)all)[r * words + i] != (round << 32 | r << 8 | i)) return 10;
    if (round % 16 == boot->rank % 16) usleep(500);
    tmb_boot_barrier(boot);
  }
  for (uint32_t r = 0; r < boot->size; r++)
    if (tmb_boot_peer_pid(boot, r) <= 0) return 11;
  return tmb_boot_peer_pid(boot, boot->rank) == getpid() ? 0 : 12;
}

#define LONG_BYTES 5000

static uint8_t pattern(uint32_t rank, size_t i) {
  return (uint8_t)(rank * 31 + i * 7);
}

static int long_data(struct tmb_boot *boot) {
  static uint8_t mine[LONG_BYTES], all[7 * LONG_BYTES];
  for (size_t i = 0; i < LONG_BYTES; i++) mine[i] = pattern(boot->rank, i);
  tmb_boot_allgather(boot, mine, LONG_BYTES, all);
  for (uint32_t r = 0; r < boot->size; r++)
    for (size_t i = 0; i < LONG_BYTES; i++)
      if (all[r * LONG_BYTES + i] != pattern(r, i)) return 22;
  return 0;
}

static int bells(struct tmb_boot *boot) {
  const struct tmb_places *p = &boot->places;
  const uint32_t next = (p->near_index + 1) % p->near_count;
  const uint64_t one = 1;
  uint64_t got = 0;
  if (write(boot->bell_fd[next], &one, sizeof one) != sizeof one) return 29;
  tmb_boot_barrier(boot);
  return read(boot->bell_fd[p->near_index], &got, sizeof got) == sizeof got && got == 1 ? 0 : 30;
}

/* A rank of a job over three pretended hosts. */
static int far_rounds(struct tmb_boot *boot) {
  const struct tmb_places *p = &boot->places;
  if (p->hosts != 3 || p->host != boot->rank % 3 || p->near_count != (p->host == 0 ? 3 : 2))
    return 20;
  if (boot->here != boot->size || boot->here_index != boot->rank || !boot->secret) return 21;
  int rc = long_data(boot);
  return rc ? rc : bells(boot);
}

/* Runs a job of `size` self-started ranks in a child and returns its wait status. */
static int run_job(const char *size, int (*rank_main)(struct tmb_boot *)) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    struct tmb_boot boot;
    tmb_env_set("GASNET_PSHM_NODES", size);
    if (tmb_boot_start(&boot) != 0) _exit(99);
    const int code = rank_main(&boot);
    tmb_boot_record_exit(&boot, code);
    tmb_boot_stop(&boot);
    _exit(code);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

TEST(gathers_from_all) {
  assert_int_equal(run_job("2", gather_rounds), 0);
  assert_int_equal(run_job("7", gather_rounds), 0);
  assert_int_equal(run_job("33", gather_rounds), 0);
}

TEST(pretends_several_hosts) {
  tmb_env_set("TOMBOLO_PLACES", "cyclic:3");
  const int status = run_job("7", far_rounds);
  tmb_env_unset("TOMBOLO_PLACES");
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* Rank 2 ends with a code of its own while the others wait for it. */
static int one_leaves(struct tmb_boot *boot) {
  tmb_boot_barrier(boot);
  if (boot->rank != 2) tmb_boot_barrier(boot);
  return boot->rank == 2 ? 42 : 43;
}

TEST(ends_with_the_first) {
  const int status = run_job("4", one_leaves);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 42);
}

TEST(is_alone_without_a_launcher) {
  struct tmb_boot boot;
  uint32_t mine = 5, all = 0;
  assert_int_equal(tmb_boot_start(&boot), TMB_OK);
  assert_int_equal(boot.rank, 0);
  assert_int_equal(boot.size, 1);
  assert_false(boot.supervised);
  assert_int_equal(boot.here, 1);
  assert_int_equal(boot.places.hosts, 1);
  tmb_boot_barrier(&boot);
  tmb_boot_allgather(&boot, &mine, sizeof mine, &all);
  assert_int_equal(all, 5);
  assert_int_equal(tmb_boot_peer_pid(&boot, 0), getpid());
  tmb_boot_record_exit(&boot, 3);
  tmb_boot_stop(&boot);
  assert_int_equal(boot.size, 0);
  tmb_boot_stop(&boot);
}

int main(void) {
  tmb_env_unset("TOMBOLO_BOOT");
  tmb_env_unset("GASNET_PSHM_NODES");
  return unit_run(NULL, NULL);
}
