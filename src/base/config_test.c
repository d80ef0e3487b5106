/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of base/config: defaults, sources, bad values, unknown names, reports.
 *
 * Owns: nothing. Run by ctest. Calls: base/config, base/log.
 * Invariants: each case runs in a child process, because settings are read once per process.
 */

#include "base/capture_test.h"
#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "base/unit_test.h"

#include <pthread.h>
#include <string.h>

extern char **environ;

/* Actions of a child: sets `env` ("A=1 B=2"), takes `rank`, reads all settings. */
struct scenario {
  const char *const *env; /* NULL-terminated "NAME=value" */
  uint32_t rank;
  void (*then)(void);
};

static void run_scenario(void *arg) {
  static char *none[] = {NULL};
  const struct scenario *s = arg;
  environ = none;
  for (size_t i = 0; s->env && s->env[i]; i++) putenv((char *)(uintptr_t)s->env[i]);
  tmb_log_set_rank(s->rank);
  tmb_cfg_init();
  if (s->then) s->then();
}

static void run(struct capture *c, uint32_t rank, const char *const *env, void (*then)(void)) {
  struct scenario s = {env, rank, then};
  assert_int_equal(capture_run(c, run_scenario, &s), 0);
}

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct capture cap;

static void expect_well(void) {
  if (capture_ended_well(&cap)) return;
  fputs(cap.text, stderr); /* cmocka cuts long messages */
  fail_msg("child failed with status %x", (unsigned)cap.status);
}

static void expect_fatal(const char *part) {
  if (!capture_died_of(&cap, SIGABRT)) fail_msg("child was not aborted: %s", cap.text);
  if (!strstr(cap.text, part)) fail_msg("\"%s\" is not in: %s", part, cap.text);
}

/* A setting that is wrong ends the process with code 2, without a core. */
static void expect_refused(const char *part) {
  if (!WIFEXITED(cap.status) || WEXITSTATUS(cap.status) != TMB_EXIT_SETTING)
    fail_msg("child did not end with code %d: %s", TMB_EXIT_SETTING, cap.text);
  if (!strstr(cap.text, part)) fail_msg("\"%s\" is not in: %s", part, cap.text);
}

static void check_defaults(void) {
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_PSHM_NODES) == 1);
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_COLL_EAGER_MAX) == 65536);
  CHILD_CHECK(tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT_MAX) == 5);
  CHILD_CHECK(!tmb_cfg_bool(TMB_CFG_QUIET));
  CHILD_CHECK(tmb_cfg_bool(TMB_CFG_SHM_MAP));
  CHILD_CHECK(tmb_cfg_str(TMB_CFG_CONDUIT) == NULL);
  CHILD_CHECK(tmb_cfg_str(TMB_CFG_BARRIER) == NULL && tmb_cfg_enum(TMB_CFG_BARRIER) == -1);
  CHILD_CHECK(strcmp(tmb_cfg_str(TMB_CFG_WAIT), "spinblock") == 0);
  CHILD_CHECK(tmb_cfg_enum(TMB_CFG_WAIT) == 2);
  CHILD_CHECK(!tmb_cfg_is_set(TMB_CFG_WAIT));
  CHILD_CHECK(strcmp(tmb_cfg_source(TMB_CFG_WAIT), "default") == 0);
}

TEST(defaults_apply) {
  run(&cap, 0, NULL, check_defaults);
  expect_well();
  assert_string_equal(cap.text, "");
}

static void check_env(void) {
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_MAX_THREADS) == 17);
  CHILD_CHECK(strcmp(tmb_cfg_source(TMB_CFG_MAX_THREADS), "environment GASNET_MAX_THREADS") == 0);
  CHILD_CHECK(tmb_cfg_is_set(TMB_CFG_MAX_THREADS));
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_COLL_EAGER_MAX) == 1024);
  CHILD_CHECK(strcmp(tmb_cfg_str(TMB_CFG_WAIT), "block") == 0 && tmb_cfg_enum(TMB_CFG_WAIT) == 1);
  CHILD_CHECK(tmb_cfg_bool(TMB_CFG_QUIET));
  CHILD_CHECK(!tmb_cfg_bool(TMB_CFG_CATCH_EXIT));
  CHILD_CHECK(strcmp(tmb_cfg_source(TMB_CFG_CATCH_EXIT), "environment GASNET_CATCH_EXIT") == 0);
  CHILD_CHECK(tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT) == 2.5);
  CHILD_CHECK(strcmp(tmb_cfg_str(TMB_CFG_BARRIER), "AMDISSEM") == 0);
  CHILD_CHECK(!tmb_cfg_is_set(TMB_CFG_SHM_MAP)); /* empty counts as unset */
}

TEST(environment_wins_over_defaults) {
  run(&cap, 0,
      ENV("GASNET_MAX_THREADS=17", "TOMBOLO_TEST_COLL_EAGER_MAX=1KB", "TOMBOLO_WAIT=BLOCK",
          "GASNET_QUIET=Y", "GASNET_CATCH_EXIT=0", "TOMBOLO_CATCH_EXIT=1", "GASNET_EXITTIMEOUT=5/2",
          "GASNET_BARRIER=amdissem", "TOMBOLO_TEST_SHM_MAP="),
      check_env);
  expect_well();
}

static void check_limited(void) {
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_MAX_THREADS) == 4096);
  CHILD_CHECK(strcmp(tmb_cfg_text(TMB_CFG_MAX_THREADS), "4096") == 0);
  CHILD_CHECK(tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT) == 86400);
  CHILD_CHECK(tmb_cfg_dbl(TMB_CFG_TSC_RATE_TOLERANCE) == 1);
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_SD_INITLEN) == 1);
}

TEST(numbers_of_other_builds_are_limited) {
  const char *const *env = ENV("GASNET_MAX_THREADS=1000000", "GASNET_EXITTIMEOUT=1e9",
                               "GASNET_TSC_RATE_TOLERANCE=2.5", "GASNET_SD_INITLEN=0");
  run(&cap, 0, env, check_limited);
  expect_well();
  const char *warning = "GASNET_MAX_THREADS=\"1000000\" is out of range: 4096";
  if (!strstr(cap.text, warning)) fail_msg("\"%s\" is not in: %s", warning, cap.text);
  run(&cap, 1, env, check_limited);
  expect_well();
  assert_string_equal(cap.text, "");
}

TEST(bad_values_are_fatal) {
  static const struct {
    const char *env, *name, *value, *allowed;
  } rows[] = {
      {"TOMBOLO_NOTIFY_CREDITS=70000", "TOMBOLO_NOTIFY_CREDITS", "\"70000\"", "from 2 to 65536"},
      {"GASNET_MAX_THREADS=0", "GASNET_MAX_THREADS", "\"0\"", "from 1 to 4096"},
      {"GASNET_PSHM_NODES=5000", "GASNET_PSHM_NODES", "\"5000\"", "from 1 to 1024"},
      {"GASNET_MAX_THREADS=two", "GASNET_MAX_THREADS", "\"two\"", "an integer"},
      {"GASNET_QUIET=2", "GASNET_QUIET", "\"2\"", "1, y, yes or 0, n, no"},
      {"TOMBOLO_BARRIER=FAST", "GASNET_BARRIER", "\"FAST\"", "DISSEM|AMDISSEM"},
      {"GASNET_HOST_DETECT=dns", "GASNET_HOST_DETECT", "\"dns\"", "gethostid|hostname|conduit"},
      {"GASNET_MAX_SEGSIZE=huge", "GASNET_MAX_SEGSIZE", "\"huge\"", "1.5GB"},
      {"GASNET_BACKTRACE_NODES=x", "GASNET_BACKTRACE_NODES", "\"x\"", "list of ranks"},
      {"GASNET_EXITTIMEOUT=-1", "GASNET_EXITTIMEOUT", "\"-1\"", "from 0 to 86400"},
      {"TOMBOLO_TEST_COLL_EAGER_MAX=1XB", "TOMBOLO_TEST_COLL_EAGER_MAX", "\"1XB\"", "size"},
  };
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    run(&cap, 2, ENV(rows[i].env), NULL);
    expect_refused(rows[i].name);
    expect_refused(rows[i].value);
    expect_refused(rows[i].allowed);
    expect_refused("rank 2");
  }
}

TEST(ignored_settings_accept_anything) {
  run(&cap, 0, ENV("GASNET_NETWORKDEPTH=x", "GASNET_TRACEFILE=t%", "GASNET_COLL_GATHER_GEOM=1"),
      NULL);
  expect_well();
  assert_string_equal(cap.text, "");
}

static int count_char(const char *text, char c) {
  int count = 0;
  for (; *text; text++) count += *text == c;
  return count;
}

/* Names that other builds know, and names that are far from any of ours. */
TEST(names_of_other_builds_are_no_mistake) {
  run(&cap, 0,
      ENV("GASNET_PHYSMEM_PROBE=1", "GASNET_PHYSMEM_MAX=1GB", "GASNET_ODP_VERBOSE=0",
          "GASNET_OFI_NUM_INITIAL_BBUFS=8", "GASNET_IBV_PORTS=x", "GASNET_SSH_SERVERS=a,b"),
      NULL);
  assert_string_equal(cap.text, "");
  run(&cap, 0,
      ENV("GASNET_SPAWN_CONTROL=ssh", "GASNET_CFLAGS=-O2", "GASNET_CONDUIT=ibv",
          "GASNET_BACKTRACE_SOMETHING=1", "GASNET_NOBODY_KNOWS=1", "TOMBOLO_BOOT=1:0:2:x"),
      NULL);
  assert_string_equal(cap.text, "");
  run(&cap, 0, ENV("GASNET_PSHM_NODE=4"), NULL);
  assert_non_null(strstr(cap.text, "did you mean GASNET_PSHM_NODES?"));
}

/* Every setting is known by both of its names, and none is offered instead of itself. */
TEST(every_setting_is_known) {
  for (enum tmb_cfg_id id = 0; id < TMB_CFG_COUNT; id++) {
    const char *const names[] = {tmb_cfg_row(id)->name, tmb_cfg_row(id)->alias};
    for (int i = 0; i < 2; i++) assert_true(!names[i] || tmb_cfg_known(names[i]));
  }
}

TEST(unknown_names_are_reported_on_rank_0) {
  const char *const env[] = {"GASNET_MAX_THRAEDS=3",
                             "TOMBOLO_XYZZY=1",
                             "TOMBOLO_SPIN=1",
                             "GASNET_TEST_FOO=1",
                             "TOMBOLO_BOOT_SIZE=4",
                             "OTHER=1",
                             "GASNET_MAXIMIZE_RLIMIT_AS=0",
                             NULL};
  run(&cap, 0, env, NULL);
  expect_well();
  assert_non_null(strstr(cap.text, "GASNET_MAX_THRAEDS"));
  assert_non_null(strstr(cap.text, "did you mean GASNET_MAX_THREADS?"));
  assert_non_null(strstr(cap.text, "TOMBOLO_XYZZY"));
  assert_null(strstr(cap.text, "did you mean TOMBOLO_MPI?"));
  assert_null(strstr(cap.text, "GASNET_TEST_FOO"));
  assert_null(strstr(cap.text, "BOOT"));
  assert_null(strstr(cap.text, "MAXIMIZE"));
  assert_int_equal(count_char(cap.text, '\n'), 1);
  run(&cap, 1, env, NULL);
  assert_string_equal(cap.text, "");
  run(&cap, 0, ENV("GASNET_MAX_THRAEDS=3", "GASNET_QUIET=1"), NULL);
  assert_string_equal(cap.text, "");
}

TEST(retired_names_say_what_to_use) {
  run(&cap, 0, ENV("TOMBOLO_UDP_THREAD=0", "TOMBOLO_SPIN_NS=0"), NULL);
  expect_well();
  assert_non_null(strstr(cap.text, "TOMBOLO_UDP_THREAD (removed; use TOMBOLO_PROGRESS_SHARE=0"));
  assert_non_null(strstr(cap.text, "TOMBOLO_SPIN_NS (removed; use TOMBOLO_WAIT)"));
}

static void check_former(void) {
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_COLL_EAGER_MAX) == 1024);
  CHILD_CHECK(strcmp(tmb_env_get("TOMBOLO_TEST_COLL_EAGER_MAX"), "1KB") == 0);
  CHILD_CHECK(tmb_cfg_bool(TMB_CFG_BACKTRACE));
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_RING_SLOTS) == 64); /* the new name wins */
}

TEST(former_names_are_accepted) {
  const char *const *env = ENV("TOMBOLO_COLL_EAGER_MAX=1KB", "TOMBOLO_BACKTRACE=1",
                               "TOMBOLO_RING_SLOTS=128", "TOMBOLO_TEST_RING_SLOTS=64");
  run(&cap, 0, env, check_former);
  expect_well();
  assert_non_null(strstr(cap.text, "setting TOMBOLO_COLL_EAGER_MAX is named "
                                   "TOMBOLO_TEST_COLL_EAGER_MAX now"));
  assert_non_null(strstr(cap.text, "setting TOMBOLO_BACKTRACE is named GASNET_BACKTRACE now"));
  assert_null(strstr(cap.text, "TOMBOLO_RING_SLOTS is named"));
  run(&cap, 1, env, check_former);
  expect_well();
  assert_string_equal(cap.text, "");
}

/* Number of times `part` occurs in `text`. */
static int occurrences(const char *text, const char *part) {
  int count = 0;
  for (const char *p = text; (p = strstr(p, part)); p++) count++;
  return count;
}

static void read_client_variables(void) {
  CHILD_CHECK(tmb_env_int("MY_SIZE", 3, 1024) == 65536);
  CHILD_CHECK(tmb_env_int("MY_SIZE", 3, 1024) == 65536);
  CHILD_CHECK(tmb_env_int("MY_ABSENT", 3, 0) == 3);
  CHILD_CHECK(tmb_env_dbl("MY_DBL", 1) == 0.375);
  CHILD_CHECK(tmb_env_bool("MY_BOOL", true) == false);
  CHILD_CHECK(strcmp(tmb_env_str("MY_STR", "x"), "hello") == 0);
  CHILD_CHECK(tmb_env_str("MY_NULL", NULL) == NULL);
  tmb_env_set("MY_STR", "changed");
  CHILD_CHECK(strcmp(tmb_env_get("MY_STR"), "changed") == 0);
  tmb_env_unset("MY_STR");
  CHILD_CHECK(tmb_env_get("MY_STR") == NULL);
  tmb_cfg_int(TMB_CFG_MAX_THREADS);
}

TEST(verbose_reports_each_name_once) {
  const char *const env[] = {
      "GASNET_VERBOSEENV=1", "GASNET_MAX_THREADS=9", "MY_SIZE=64", "MY_DBL=3/8",
      "MY_BOOL=no",          "MY_STR=hello",         NULL};
  run(&cap, 0, env, read_client_variables);
  expect_well();
  assert_int_equal(occurrences(cap.text, "GASNET_VERBOSEENV = 1"), 1);
  assert_int_equal(occurrences(cap.text, "GASNET_MAX_THREADS = 9\n"), 1);
  assert_int_equal(occurrences(cap.text, "MY_SIZE = 64 KB\n"), 1);
  assert_int_equal(occurrences(cap.text, "MY_ABSENT = 3 (default)\n"), 1);
  assert_int_equal(occurrences(cap.text, "TOMBOLO_WAIT = spinblock (default)\n"), 1);
  assert_null(strstr(cap.text, "GASNET_NETWORKDEPTH"));
  run(&cap, 1, env, read_client_variables);
  expect_well();
  assert_string_equal(cap.text, "");
}

static bool says_no(void) {
  return false;
}

/* A launched rank reads settings before it knows its rank: reports wait, values are read anew. */
static void early_child(void *arg) {
  const bool launched = *(bool *)arg;
  static char *none[] = {NULL};
  environ = none;
  tmb_cfg_set_speaker(launched ? says_no : NULL);
  tmb_env_set("GASNET_VERBOSEENV", "1");
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_PSHM_NODES) == 1);
  puts("-- rank known");
  fflush(stdout);
  tmb_env_set("GASNET_PSHM_NODES", "4");
  tmb_log_set_rank(0);
  tmb_cfg_init();
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_PSHM_NODES) == 4);
}

TEST(reports_wait_for_the_rank) {
  bool launched = true;
  assert_int_equal(capture_run(&cap, early_child, &launched), 0);
  expect_well();
  assert_ptr_equal(strstr(cap.text, "-- rank known"), cap.text);
  assert_int_equal(occurrences(cap.text, "GASNET_PSHM_NODES"), 1);
  launched = false;
  assert_int_equal(capture_run(&cap, early_child, &launched), 0);
  expect_well();
  /* tidy-allow: prints because two pointers say less than the text */
  assert_true(strstr(cap.text, "GASNET_PSHM_NODES = 1 (default)") < strstr(cap.text, "-- rank"));
}

static void check_override(void) {
  tmb_cfg_override(TMB_CFG_MAX_SEGSIZE, "1GB/P", "client's gasnet_max_segsize_str", false);
  CHILD_CHECK(strcmp(tmb_cfg_str(TMB_CFG_MAX_SEGSIZE), "1GB/P") == 0);
  CHILD_CHECK(strcmp(tmb_cfg_source(TMB_CFG_MAX_SEGSIZE), "client's gasnet_max_segsize_str") == 0);
  CHILD_CHECK(tmb_cfg_is_set(TMB_CFG_MAX_SEGSIZE));
  tmb_cfg_override(TMB_CFG_MAX_THREADS, "5", "code", false);
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_MAX_THREADS) == 17); /* the environment is stronger */
  tmb_cfg_override(TMB_CFG_MAX_THREADS, "5", "command line", true);
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_MAX_THREADS) == 5);
}

TEST(overrides_rank_between_default_and_environment) {
  run(&cap, 0, ENV("GASNET_MAX_THREADS=17"), check_override);
  expect_well();
}

static void bad_client_int(void) {
  tmb_env_int("MY_SIZE", 0, 0);
}
static void bad_client_bool(void) {
  tmb_env_bool("MY_BOOL", false);
}
static void bad_client_dbl(void) {
  tmb_env_dbl("MY_DBL", 0);
}
static void wrong_getter(void) {
  (void)tmb_cfg_bool(TMB_CFG_MAX_THREADS);
}
static void reader_complains(void) {
  tmb_cfg_bad_value(TMB_CFG_BACKTRACE_TYPE, "some of EXECINFO, GDB");
}

TEST(misuse_is_fatal) {
  run(&cap, 0, ENV("MY_SIZE=12x"), bad_client_int);
  expect_fatal("MY_SIZE=\"12x\"");
  run(&cap, 0, ENV("MY_BOOL=3"), bad_client_bool);
  expect_fatal("MY_BOOL=\"3\"");
  run(&cap, 0, ENV("MY_DBL=one"), bad_client_dbl);
  expect_fatal("MY_DBL=\"one\"");
  run(&cap, 0, NULL, wrong_getter);
  expect_fatal("MAX_THREADS");
  run(&cap, 0, ENV("GASNET_BACKTRACE_TYPE=pigeon"), reader_complains);
  expect_refused("GASNET_BACKTRACE_TYPE=\"pigeon\"");
  expect_refused("some of EXECINFO, GDB");
  run(&cap, 0, ENV("TOMBOLO_CONDUIT=pigeon"), NULL);
  expect_refused("expected one of smp|udp|ofi|mpi|loop;");
}

static bool starts_with(const char *text, const char *prefix) {
  return !text || strncmp(text, prefix, strlen(prefix)) == 0;
}

TEST(every_row_is_well_formed) {
  for (int id = 0; id < TMB_CFG_COUNT; id++) {
    const struct tmb_cfg_row *row = tmb_cfg_row((enum tmb_cfg_id)id);
    assert_non_null(row->id);
    if (!row->name && !row->alias) fail_msg("row %s has no name", row->id);
    if (!starts_with(row->name, "TOMBOLO_")) fail_msg("row %s: %s", row->id, row->name);
    if (!starts_with(row->alias, "GASNET_")) fail_msg("row %s: %s", row->id, row->alias);
    if (row->type == TMB_ENUM && !*row->unit) fail_msg("%s has no words", row->id);
    /* A bar would break the table of docs/SETTINGS.md. */
    if (strlen(row->help) < 10 || strchr(row->help, '|')) fail_msg("help of %s", row->id);
  }
}

static bool same_name(const char *a, const char *b) {
  return a && b && strcmp(a, b) == 0;
}

TEST(no_name_appears_twice) {
  for (int id = 0; id < TMB_CFG_COUNT; id++) {
    const struct tmb_cfg_row *row = tmb_cfg_row((enum tmb_cfg_id)id);
    for (int other = 0; other < id; other++) {
      const struct tmb_cfg_row *o = tmb_cfg_row((enum tmb_cfg_id)other);
      if (same_name(row->alias, o->alias)) fail_msg("%s appears twice", row->alias);
      if (same_name(row->name, o->name)) fail_msg("%s appears twice", row->name);
    }
  }
}

TEST(names_near_a_setting_are_found) {
  assert_string_equal(tmb_cfg_nearest("GASNET_BARIER"), "GASNET_BARRIER");
  assert_string_equal(tmb_cfg_nearest("TOMBOLO_PSHM_NODES"), "GASNET_PSHM_NODES");
  assert_null(tmb_cfg_nearest("TOMBOLO_ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
  assert_true(tmb_cfg_known("GASNET_TEST_ANYTHING"));
  assert_true(tmb_cfg_known("TOMBOLO_WAIT"));
  assert_false(tmb_cfg_known("GASNET_WAIT"));
}

static void *read_all(void *arg) {
  (void)arg;
  for (int id = 0; id < TMB_CFG_COUNT; id++) {
    const char *text = tmb_cfg_text((enum tmb_cfg_id)id);
    CHILD_CHECK(tmb_cfg_row((enum tmb_cfg_id)id)->dflt == NULL || text != NULL);
    CHILD_CHECK(*tmb_cfg_source((enum tmb_cfg_id)id) != '\0');
  }
  CHILD_CHECK(tmb_cfg_int(TMB_CFG_MAX_THREADS) == 256);
  return NULL;
}

static void read_on_threads(void *arg) {
  static char *none[] = {NULL};
  environ = none;
  pthread_t threads[8];
  (void)arg;
  tmb_env_set("GASNET_VERBOSEENV", "1");
  for (size_t i = 0; i < TMB_ARRAY_LEN(threads); i++)
    CHILD_CHECK(pthread_create(&threads[i], NULL, read_all, NULL) == 0);
  for (size_t i = 0; i < TMB_ARRAY_LEN(threads); i++)
    CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
}

TEST(threads_may_read_before_init) {
  assert_int_equal(capture_run(&cap, read_on_threads, NULL), 0);
  expect_well();
  assert_int_equal(occurrences(cap.text, "TOMBOLO_WAIT = "), 1);
  assert_int_equal(occurrences(cap.text, "GASNET_PSHM_NODES = "), 1);
}

int main(void) {
  return unit_run(NULL, NULL);
}
