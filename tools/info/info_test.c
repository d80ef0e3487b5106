/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of `tombolo info`: the three forms of its output, wrong settings, wrong options.
 *
 * Owns: nothing. Run by ctest. Calls: tool_info_main in child processes.
 * Invariants: docs/SETTINGS.md is the output of `tombolo info --config --markdown`.
 */

#include "base/capture_test.h"
#include "base/config.h"
#include "base/unit_test.h"
#include "tool.h"

#include <jansson.h>
#include <string.h>

static struct capture cap;

struct call {
  int argc;
  const char *argv[4];
  const char *name, *value; /* environment, or NULL */
};

static void do_call(void *arg) {
  struct call *call = arg;
  if (call->name) tmb_env_set(call->name, call->value);
  char *argv[5] = {(char *)(uintptr_t) "tombolo info"};
  for (int i = 0; i < call->argc; i++) argv[i + 1] = (char *)(uintptr_t)call->argv[i];
  const int rc = tool_info_main(call->argc + 1, argv);
  fflush(stdout);
  _exit(rc);
}

/* Runs the command, fails unless it exits with `code`. */
static void run(struct call call, int code) {
  capture_exit(&cap, do_call, &call, code);
}

static void expect(const char *part) {
  if (!strstr(cap.text, part)) fail_msg("\"%s\" is not in: %s", part, cap.text);
}

TEST(text_shows_every_section) {
  run((struct call){0}, 0);
  static const char *const parts[] = {"\nBuild\n",
                                      "\nConduits\n",
                                      "\nInterfaces\n",
                                      "not available: loopback",
                                      "\nShmem\n",
                                      "  library ", /* found, or why not */
                                      "\nTopology\n",
                                      "\nMemory\n",
                                      "\nClock\n",
                                      "\nLimits\n",
                                      "\nSettings: Compilers\n",
                                      "\nStructure sizes\n",
                                      "2025.8.0",
                                      "0.19",
                                      "1.8",
                                      "1.20",
                                      "smp",
                                      "available: ",
                                      "RLIMIT_AS",
                                      "TOMBOLO_WAIT = spinblock  (default)",
                                      "plug-in", /* found, once one is installed, or not */
                                      "GASNET_NETWORKDEPTH",
                                      "gex_HSL_t",
                                      "GASNET_TEST_"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(parts); i++) expect(parts[i]);
}

static json_t *parse(void) {
  json_error_t error;
  json_t *document = json_loads(cap.text, 0, &error);
  if (!document) fail_msg("line %d: %s: %s", error.line, error.text, cap.text);
  return document;
}

TEST(json_is_complete) {
  run((struct call){1, {"--json"}, NULL, NULL}, 0);
  json_t *document = parse();
  json_t *version = json_object_get(document, "version");
  assert_string_equal(json_string_value(json_object_get(version, "gasnet_release")), "2025.8.0");
  json_t *conduit = json_array_get(json_object_get(document, "conduits"), 0);
  assert_string_equal(json_string_value(json_object_get(conduit, "name")), "smp");
  assert_true(json_is_true(json_object_get(conduit, "available")));
  json_t *topology = json_object_get(document, "topology");
  assert_cmp(json_integer_value(json_object_get(topology, "processors_usable")), >=, 1);
  json_t *memory = json_object_get(document, "memory");
  assert_cmp(json_integer_value(json_object_get(memory, "limit_bytes")), >, 0);
  assert_int_equal(json_array_size(json_object_get(document, "settings")), TMB_CFG_COUNT);
  json_decref(document);
}

/* The entry of --config --json that has this first or second name. */
static json_t *find_setting(json_t *settings, const char *name) {
  size_t i;
  json_t *row;
  json_array_foreach(settings, i, row) {
    const char *first = json_string_value(json_object_get(row, "name"));
    const char *second = json_string_value(json_object_get(row, "alias"));
    if ((first && strcmp(first, name) == 0) || (second && strcmp(second, name) == 0)) return row;
  }
  fail_msg("no setting %s", name);
  return NULL;
}

TEST(settings_show_value_and_source) {
  run((struct call){2, {"--config", "--json"}, "GASNET_MAX_THREADS", "33"}, 0);
  json_t *settings = parse();
  json_t *row = find_setting(settings, "GASNET_MAX_THREADS");
  assert_string_equal(json_string_value(json_object_get(row, "value")), "33");
  assert_string_equal(json_string_value(json_object_get(row, "source")),
                      "environment GASNET_MAX_THREADS");
  assert_string_equal(json_string_value(json_object_get(row, "default")), "256");
  assert_true(json_is_null(json_object_get(row, "error")));
  assert_string_equal(json_string_value(json_object_get(row, "group")), "Memory and threads");
  json_decref(settings);
}

TEST(each_group_of_settings_has_one_title) {
  run((struct call){1, {"--config"}, NULL, NULL}, 0);
  const char *title = strstr(cap.text, "\nSettings: Collectives\n");
  assert_non_null(title);
  assert_null(strstr(title + 1, "\nSettings: Collectives\n"));
  assert_non_null(strstr(title, "TOMBOLO_COLL_ALG"));
  assert_null(strstr(cap.text, "Of tests and experiments"));
}

TEST(wrong_settings_are_shown_not_fatal) {
  static const char *const names[] = {"GASNET_MAX_THREADS", "GASNET_VERBOSEENV", "TOMBOLO_WAIT",
                                      "GASNET_TSC_VERBOSE"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++) {
    run((struct call){0, {NULL}, names[i], "-7"}, 1);
    expect("INVALID");
    expect(names[i]);
    expect("\"-7\" is not valid");
    expect("\nClock\n");
  }
  run((struct call){1, {"-c"}, "TOMBOLO_WIAT", "1"}, 0);
  expect("did you mean TOMBOLO_WAIT?");
}

TEST(networks_are_shown_alone) {
  run((struct call){1, {"--network"}, NULL, NULL}, 0);
  expect("\nInterfaces\n");
  expect("\nRails of ofi\n");
  assert_null(strstr(cap.text, "Topology"));
  assert_null(strstr(cap.text, "TOMBOLO_WAIT"));
}

TEST(guards_are_named) {
  run((struct call){1, {"--network"}, NULL, NULL}, 0);
  expect("\nGuard of udp\n");
  expect(" payload\n");
  expect(" datagrams and connections: all of each packet\n");
  run((struct call){1, {"--network"}, "TOMBOLO_UDP_AUTH", "header"}, 0);
  expect(" payloads of more than 256 bytes, by who can send packets on the path");
  run((struct call){1, {"--network"}, "TOMBOLO_UDP_AUTH", "encrypt"}, 0);
  expect(" all but headers");
}

TEST(wrong_options_are_refused) {
  run((struct call){1, {"--bogus"}, NULL, NULL}, TOOL_EXIT_USAGE);
  run((struct call){1, {"extra"}, NULL, NULL}, TOOL_EXIT_USAGE);
  expect("\"extra\"");
  run((struct call){1, {"--markdown"}, NULL, NULL}, TOOL_EXIT_USAGE);
  run((struct call){2, {"--network", "--config"}, NULL, NULL}, TOOL_EXIT_USAGE);
  run((struct call){1, {"--help"}, NULL, NULL}, 0);
  expect("--json");
}

TEST(the_checked_in_table_is_current) {
  static char text[sizeof cap.text];
  FILE *file = fopen(TMB_SETTINGS_PAGE, "r");
  if (!file) fail_msg("cannot open " TMB_SETTINGS_PAGE);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  run((struct call){2, {"--config", "--markdown"}, NULL, NULL}, 0);
  if (strcmp(cap.text, text) != 0)
    fail_msg("docs/SETTINGS.md is old: run `tombolo info --config --markdown > docs/SETTINGS.md`");
}

int main(void) {
  return unit_run(NULL, NULL);
}
