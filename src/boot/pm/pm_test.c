/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of pm.c and pmix_abi.h: values through a store, maps of hosts, variables of the
 * environment, and the declarations of PMIx's binary interface where its header is installed.
 */
#include "base/unit_test.h"
#include "boot/pm/pm.h"
#include "boot/pm/pmix_abi.h"

#include "base/config.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<pmix_common.h>)
# include <pmix_common.h>
_Static_assert(sizeof(struct pmix_abi_proc) == sizeof(pmix_proc_t), "pmix_proc_t");
_Static_assert(offsetof(struct pmix_abi_proc, rank) == offsetof(pmix_proc_t, rank), "rank");
_Static_assert(sizeof(struct pmix_abi_value) == sizeof(pmix_value_t), "pmix_value_t");
_Static_assert(offsetof(struct pmix_abi_value, data) == offsetof(pmix_value_t, data), "data");
_Static_assert(sizeof(struct pmix_abi_info) == sizeof(pmix_info_t), "pmix_info_t");
_Static_assert(offsetof(struct pmix_abi_info, value) == offsetof(pmix_info_t, value), "value");
_Static_assert(PMIX_ABI_BOOL == PMIX_BOOL && PMIX_ABI_STRING == PMIX_STRING &&
                   PMIX_ABI_UINT32 == PMIX_UINT32 && PMIX_ABI_GLOBAL == PMIX_GLOBAL &&
                   PMIX_ABI_SUCCEEDED == PMIX_OPERATION_SUCCEEDED,
               "constants");

TEST(pmix_names) {
  assert_string_equal(PMIX_ABI_JOB_SIZE, PMIX_JOB_SIZE);
  assert_string_equal(PMIX_ABI_NODEID, PMIX_NODEID);
  assert_string_equal(PMIX_ABI_COLLECT_DATA, PMIX_COLLECT_DATA);
  assert_string_equal(PMIX_ABI_IMMEDIATE, PMIX_IMMEDIATE);
  assert_int_equal(PMIX_ABI_RANK_WILDCARD, (pmix_rank_t)(PMIX_RANK_WILDCARD));
}
#else
TEST(pmix_names) { /* there is no pmix_common.h to compare with */
  skip();
}
#endif

/* ---- a store in this process */

static struct { char key[TMB_PM_KEY_BYTES], value[TMB_PM_VALUE_BYTES]; } kept[16];
static size_t kept_count;

static int keep(struct tmb_pm *pm, const char *key, const char *value) {
  (void)pm;
  assert_cmp(strlen(value), <, TMB_PM_VALUE_BYTES);
  assert_cmp(kept_count, <, TMB_ARRAY_LEN(kept));
  snprintf(kept[kept_count].key, sizeof kept[0].key, "%s", key);
  snprintf(kept[kept_count++].value, sizeof kept[0].value, "%s", value);
  return 0;
}

static int find(struct tmb_pm *pm, uint32_t owner, const char *key, char *value) {
  (void)pm;
  (void)owner;
  for (size_t i = 0; i < kept_count; i++)
    if (strcmp(kept[i].key, key) == 0) {
      snprintf(value, TMB_PM_VALUE_BYTES, "%s", kept[i].value);
      return 0;
    }
  return TMB_E_NOT_FOUND;
}

static const struct tmb_pm_ops store = {.name = "store", .put = keep, .get = find};

TEST(values) {
  static const size_t lengths[] = {1, 479, 480, 481, 960, 2000};
  struct tmb_pm pm = {.ops = &store, .size = 2};
  uint8_t from[2000], to[2000];
  for (size_t i = 0; i < sizeof from; i++) from[i] = (uint8_t)(i * 7 + i / 256);
  for (size_t i = 0; i < TMB_ARRAY_LEN(lengths); i++) {
    kept_count = 0;
    memset(to, 0, sizeof to);
    assert_int_equal(tmb_pm_put_data(&pm, "tmb-r4294967295-h1023", from, lengths[i]), 0);
    assert_int_equal(tmb_pm_get_data(&pm, 0, "tmb-r4294967295-h1023", to, lengths[i]), 0);
    assert_memory_equal(from, to, lengths[i]);
    assert_int_equal(tmb_pm_get_data(&pm, 0, "tmb-r4294967295-h1023", to, lengths[i] + 1),
                     TMB_E_NOT_FOUND);
  }
  assert_int_equal(tmb_pm_get_data(&pm, 0, "other", to, 1), TMB_E_NOT_FOUND);
  snprintf(kept[0].value, sizeof kept[0].value, "0g");
  assert_int_equal(tmb_pm_get_data(&pm, 0, "tmb-r4294967295-h1023", to, 1), TMB_E_NOT_FOUND);
}

TEST(mapping) {
  uint32_t host[6];
  assert_int_equal(tmb_pm_parse_mapping("(vector,(0,3,2))", 6, host), 0);
  assert_memory_equal(host, ((uint32_t[]){0, 0, 1, 1, 2, 2}), sizeof host);
  assert_int_equal(tmb_pm_parse_mapping("(vector,(0,2,1))", 6, host), 0);
  assert_memory_equal(host, ((uint32_t[]){0, 1, 0, 1, 0, 1}), sizeof host);
  assert_int_equal(tmb_pm_parse_mapping("(vector,(0,1,3),(1,1,2),(5,1,1))", 6, host), 0);
  assert_memory_equal(host, ((uint32_t[]){0, 0, 0, 1, 1, 5}), sizeof host);
  assert_int_equal(tmb_pm_parse_mapping("(vector,(0,1,0))", 6, host), TMB_E_ARG);
  assert_int_equal(tmb_pm_parse_mapping("(vector)", 6, host), TMB_E_ARG);
  assert_int_equal(tmb_pm_parse_mapping("(vector,(a", 6, host), TMB_E_ARG);
  assert_int_equal(tmb_pm_parse_mapping("", 6, host), TMB_E_ARG);
}

TEST(environment) {
  uint32_t rank, size;
  static const char *const names[] = {
      "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",          "PMI_SIZE",
      "SLURM_PROCID",         "SLURM_STEP_NUM_TASKS", "TOMBOLO_BOOT_TAKEN"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++) tmb_env_unset(names[i]);
  assert_null(tmb_pm_started_by(&rank, &size));
  tmb_env_set("PMI_RANK", "3");
  tmb_env_set("PMI_SIZE", "1");
  assert_null(tmb_pm_started_by(&rank, &size)); /* alone */
  tmb_env_set("PMI_SIZE", "8");
  assert_string_equal(tmb_pm_started_by(&rank, &size), "mpiexec");
  assert_int_equal(rank, 3);
  assert_int_equal(size, 8);
  tmb_env_set("TOMBOLO_BOOT_TAKEN", "1"); /* a program that a rank has started */
  assert_null(tmb_pm_started_by(&rank, &size));
  tmb_pm_mark_taken();
  assert_non_null(tmb_pm_started_by(&rank, &size));
  tmb_env_unset("TOMBOLO_BOOT_TAKEN");
}

int main(void) {
  return unit_run(NULL, NULL);
}
