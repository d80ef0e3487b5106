/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor`: options, the order of the checks, and how the result is printed.
 *
 * Owns: the options. Called by main.c. Calls: the other files of tools/doctor, tools/hosts.
 * Invariants: never starts a job and changes nothing; exit code 0 if no check is an error, 1 if one
 * is, 2 for wrong arguments.
 */
#include "doctor/doctor.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"
#include "info/info.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

enum { OPT_HOSTS = 256 };

struct options {
  bool json;
  const char *hosts;
};

static const struct argp_option option_table[] = {
    {"hosts", OPT_HOSTS, "A,B,...", 0,
     "also check each of these hosts: that ssh works without a password, that it has the same "
     "version of tombolo, the same MTU, and no problem that this machine does not have",
     0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {0},
};

static const char doc[] =
    "Check whether this machine, and other hosts, can run jobs: shared memory, limits, processors, "
    "the clock, interfaces, conduits, ssh, compilers and versions."
    "\v"
    "A line for each check: ok, warning or error; what was found; what to do. A warning says what "
    "is slower or left out, an error what prevents jobs. Exit code: 0 if there is no error, 1 if "
    "there is one, 2 for wrong options.";

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct options *options = state->input;
  switch (key) {
  case 'j': options->json = true; return 0;
  case OPT_HOSTS: options->hosts = arg; return 0;
  case ARGP_KEY_ARG: argp_error(state, "unexpected argument \"%s\"; see --help", arg); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Reports settings that are wrong, and goes on with their defaults. */
static void check_settings(struct doctor *d) {
  int bad = 0;
  size_t i;
  json_t *row, *settings = info_settings(&bad);
  json_array_foreach(settings, i, row) {
    const char *error = json_string_value(json_object_get(row, "error"));
    if (error)
      doctor_add(d, DOCTOR_ERROR, "setting", "Correct or unset the variable.", "%s", error);
  }
  if (bad == 0) doctor_add(d, DOCTOR_OK, "settings", NULL, "all are valid");
  json_decref(settings);
}

static void print_text(const struct doctor *d) {
  size_t i;
  json_t *check;
  json_array_foreach(d->checks, i, check) {
    const char *remedy = json_string_value(json_object_get(check, "remedy"));
    printf("%-8s %-17s %s%s%s\n", json_string_value(json_object_get(check, "state")),
           json_string_value(json_object_get(check, "name")),
           json_string_value(json_object_get(check, "found")), remedy ? ". " : "",
           remedy ? remedy : "");
  }
  printf("%d checks: %d ok, %d with a warning, %d with an error\n",
         d->count[DOCTOR_OK] + d->count[DOCTOR_WARNING] + d->count[DOCTOR_ERROR],
         d->count[DOCTOR_OK], d->count[DOCTOR_WARNING], d->count[DOCTOR_ERROR]);
}

/* Prints {version, checks, mtu_bytes, warnings, errors}. Returns 0 or the exit code. */
static int print_json(const struct doctor *d) {
  json_t *document = json_pack("{s:s, s:O, s:O, s:i, s:i}", "version", tool_version(), "checks",
                               d->checks, "mtu_bytes", d->mtu, "warnings", d->count[DOCTOR_WARNING],
                               "errors", d->count[DOCTOR_ERROR]);
  const int rc = document ? json_dumpf(document, stdout, JSON_INDENT(2)) : -1;
  json_decref(document);
  if (rc == 0) putchar('\n');
  return rc == 0 ? 0 : TOOL_EXIT_FAILED;
}

int tool_doctor_main(int argc, char **argv) {
  static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
  struct options options = {0};
  struct host_list list = {0};
  char why[HOSTS_WHY_BYTES];
  tool_parse(&argp, argc, argv, 0, &options);
  if (options.hosts && hosts_parse(&list, options.hosts, why) != 0) {
    tmb_print("doctor: --hosts %s: %s", options.hosts, why);
    hosts_free(&list);
    return TOOL_EXIT_USAGE;
  }
  struct doctor d = {.checks = json_array(), .hosts = list.count > 0};
  check_settings(&d);
  tmb_cfg_init(); /* warns about unknown names */
  doctor_machine(&d);
  doctor_network(&d);
  doctor_compilers(&d);
  doctor_hosts(&d, &list);
  int rc = 0;
  if (options.json)
    rc = print_json(&d);
  else
    print_text(&d);
  json_decref(d.checks);
  json_decref(d.mtu);
  hosts_free(&list);
  if (fflush(stdout) != 0) {
    tmb_print("doctor: cannot write to standard output: %m");
    return TOOL_EXIT_FAILED;
  }
  return rc != 0 || d.count[DOCTOR_ERROR] > 0 ? TOOL_EXIT_FAILED : 0;
}
