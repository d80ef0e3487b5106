/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lists of hosts, and of the buffers and jobs that agents send each other.
 */

#include "agent/tree_job.h"
#include "base/unit_test.h"
#include "hosts/hosts.h"
#include "hosts/slurm.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks a list: names with numbers, and the hosts of the ranks. in names: "a:2 b:0"... */
static void expect(const char *text, uint32_t most, bool cyclic, uint32_t ranks,
                   const char *places) {
  struct host_list list = {0};
  char why[HOSTS_WHY_BYTES] = "", got[512] = "";
  uint32_t *host_of = NULL;
  size_t used = 0;
  assert_int_equal(hosts_parse(&list, text, why), TMB_OK);
  assert_int_equal(hosts_place(&list, most, cyclic, &ranks, &host_of, why), TMB_OK);
  for (uint32_t r = 0; r < ranks; r++)
    used += (size_t)snprintf(got + used, sizeof got - used, "%s%s", r ? " " : "",
                             list.entry[host_of[r]].name);
  assert_string_equal(got, places);
  free(host_of);
  hosts_free(&list);
}

TEST(places_ranks) {
  expect("a:2,b:2", 0, false, 0, "a a b b");
  expect("a:2,b:2", 0, true, 0, "a b a b");
  expect("a,b", 0, false, 0, "a b");
  expect("a,b", 0, false, 5, "a a a b b");
  expect("a:1,b", 0, false, 5, "a b b b b");
  expect("a:3,b:3", 0, false, 4, "a a a b");
  expect("a:3,b:3,c:3", 2, false, 4, "a a b b");
  expect("a:1,b:3,c:1", 0, true, 0, "a b c b b");
  expect("a,a,b", 0, false, 0, "a a b");
  expect("a:3,b", 0, false, 2, "a a");
  expect("# all\nnode1:2 # fast\n\nme@node2\n", 0, false, 0, "node1 node1 me@node2");
  expect("[fd77::1]:2,fd77::2", 0, false, 0, "fd77::1 fd77::1 fd77::2");
}

static void allocated(const char *nodes, const char *tasks, const char *want) {
  char why[SLURM_WHY_BYTES] = "";
  uint64_t total;
  char *list = slurm_list(nodes, tasks, &total, why);
  if (want) {
    assert_string_equal(list, want);
  } else {
    assert_null(list);
    assert_non_null(strstr(why, nodes));
  }
  free(list);
}

/* The forms of SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE. */
TEST(allocations) {
  allocated("n1", NULL, "n1");
  allocated("n[1-3,07]", "2(x3),1", "n1:2,n2:2,n3:2,n07:1");
  allocated("a,b[09-11]-x,c", "1(x5)", "a:1,b09-x:1,b10-x:1,b11-x:1,c:1");
  allocated("r[0-1]n[2,4]", NULL, "r0n2,r0n4,r1n2,r1n4");
  allocated("n[1-2]", "4", NULL);
  allocated("n[1-2]", "0(x2)", NULL);
  allocated("n[1-2]", "2(y2)", NULL);
  allocated("n[2-1]", NULL, NULL);
  allocated("n[1-2", NULL, NULL);
  allocated("n[x]", NULL, NULL);
  allocated("n[1-99999999999]", NULL, NULL);
  allocated("", NULL, NULL);
  allocated("a,,b", NULL, NULL);
}

static void refuse(const char *text, uint32_t most, uint32_t ranks, const char *part) {
  struct host_list list = {0};
  char why[HOSTS_WHY_BYTES] = "";
  uint32_t *host_of = NULL;
  int rc = hosts_parse(&list, text, why);
  if (!rc) rc = hosts_place(&list, most, false, &ranks, &host_of, why);
  assert_int_equal(rc, TMB_E_ARG);
  if (!strstr(why, part)) fail_msg("%s", why);
  hosts_free(&list);
}

TEST(refuses_what_is_no_list) {
  refuse("", 0, 0, "empty");
  refuse("# nothing", 0, 2, "empty");
  refuse("a:0", 0, 0, "'a:0'");
  refuse("a:x", 0, 0, "'a:x'");
  refuse("a:2x", 0, 0, "'a:2x'");
  refuse(":2", 0, 0, "':2'");
  refuse("-oProxyCommand=x", 0, 0, "no NAME");
  refuse("a:9999", 0, 0, "from 1 to");
  refuse("a:2,b:2", 0, 5, "room for 4");
  refuse("a,b", 3, 3, "-N 3");
  refuse("[a", 0, 0, "'[a'");
  refuse("a\n# b\nc:x\n", 0, 0, "line 3: 'c:x'");
  refuse("a\n\177ELF\2\1", 0, 0, "line 2: no NAME or NAME:RANKS, but control characters");
}

static struct tree_job example(void) {
  static uint32_t host_of[] = {0, 1, 0};
  static char *names[] = {(char *)"a", (char *)"b", NULL};
  static char *argv[] = {(char *)"prog", (char *)"", (char *)"x y", NULL};
  static char *env[] = {(char *)"A=1", NULL};
  return (struct tree_job){.size = 3,
                           .hosts = 2,
                           .host_of = host_of,
                           .host_name = names,
                           .job_id = 77,
                           .secret = {1, 2, 3},
                           .bind = true,
                           .degree = 4,
                           .silence_s = 2.5,
                           .ssh = (char *)"ssh -x",
                           .agent = (char *)"/t",
                           .folder = (char *)"/",
                           .argv = argv,
                           .env = env};
}

TEST(carries_jobs) {
  const struct tree_job job = example();
  struct tree_job got;
  struct pack p = {0};
  uint32_t first, last;
  tree_job_pack(&job, 1, 1, &p);
  struct pack in = pack_reader(p.data, p.bytes);
  assert_true(tree_job_unpack(&in, &got, &first, &last));
  assert_int_equal(first, 1);
  assert_int_equal(got.host_of[1], 1);
  assert_string_equal(got.host_name[1], "b");
  assert_string_equal(got.argv[2], "x y");
  assert_null(got.argv[3]);
  assert_int_equal(got.secret[2], 3);
  assert_true(got.bind && !got.line_buffered);
  tree_job_free(&got);
  pack_free(&p);
}

/* Cut or changed input: no job, or a job whose numbers are in range; never a wild access. */
TEST(survives_damage) {
  const struct tree_job job = example();
  struct pack p = {0};
  uint32_t first, last, seed = 1;
  tree_job_pack(&job, 0, 1, &p);
  for (size_t bytes = 0; bytes < p.bytes; bytes++) {
    struct tree_job got;
    char *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, p.data, bytes);
    struct pack in = pack_reader(copy, bytes);
    assert_false(tree_job_unpack(&in, &got, &first, &last));
    tree_job_free(&got);
    free(copy);
  }
  for (int round = 0; round < 20000; round++) {
    struct tree_job got;
    char *copy = malloc(p.bytes);
    assert_non_null(copy);
    memcpy(copy, p.data, p.bytes);
    for (int i = 0; i < 3; i++) {
      seed = seed * 1664525 + 1013904223;
      copy[(seed >> 8) % p.bytes] = (char)(seed >> 24);
    }
    struct pack in = pack_reader(copy, p.bytes);
    if (tree_job_unpack(&in, &got, &first, &last)) {
      assert_cmp(first, <=, last);
      assert_cmp(last, <, got.hosts);
      assert_cmp(got.size, <=, TMB_BOOT_RANKS_MAX);
      for (uint32_t r = 0; r < got.size; r++) assert_cmp(got.host_of[r], <, got.hosts);
    }
    tree_job_free(&got);
    free(copy);
  }
  pack_free(&p);
}

int main(void) {
  return unit_run(NULL, NULL);
}
