/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo info`: options, and which of the printers is used.
 *
 * Owns: the options. Called by main.c. Calls: info_collect.c, info_print.c, base/config.
 * Invariants: never starts a job; exit code 1 if a setting of the environment is not valid, which
 * is printed, 2 for wrong arguments.
 */
#include "info/info.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

enum { OPT_MARKDOWN = 256 };

struct options {
  bool config, json, markdown, network;
};

static const struct argp_option option_table[] = {
    {"config", 'c', NULL, 0, "show the settings only: value, source and meaning", 0},
    {"network", 'n', NULL, 0,
     "show only networks: conduits, interfaces, providers of libfabric, rails", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {"markdown", OPT_MARKDOWN, NULL, 0, "with --config: print the table of docs/SETTINGS.md", 0},
    {0},
};

static const char doc[] =
    "Show version, build, conduits, interfaces of networks, topology, limits, structure sizes and "
    "settings of Tombolo here."
    "\v"
    "Settings are environment variables; a program started now with this environment would see the "
    "values shown. Exit code: 0, 1 if a setting is not valid, 2 for wrong options.";

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct options *options = state->input;
  (void)arg;
  switch (key) {
  case 'c': options->config = true; return 0;
  case 'j': options->json = true; return 0;
  case 'n': options->network = true; return 0;
  case OPT_MARKDOWN: options->markdown = true; return 0;
  case ARGP_KEY_ARG: argp_error(state, "unexpected argument \"%s\"; see --help", arg); return 0;
  case ARGP_KEY_END:
    if (options->markdown && (!options->config || options->json))
      argp_error(state, "--markdown goes with --config and without --json");
    if (options->network && options->config)
      argp_error(state, "--network and --config each show a part only: give one of them");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Collects the parts that the options ask for, without the settings. */
static json_t *collect(const struct options *options) {
  if (options->config) return json_object();
  return options->network ? info_collect_network() : info_collect();
}

/* Prints the document with a newline. Returns the exit code. */
static int print_json(const json_t *document) {
  if (json_dumpf(document, stdout, JSON_INDENT(2)) != 0) return TOOL_EXIT_FAILED;
  putchar('\n');
  return 0;
}

/* Prints the parts that the options ask for. Returns the exit code. */
static int print(const struct options *options, json_t *document, json_t *settings) {
  if (options->markdown) {
    info_print_markdown(settings);
    return 0;
  }
  if (options->json) return print_json(options->config ? settings : document);
  if (!options->config) info_print_text(document);
  if (!options->network) info_print_settings(settings);
  return 0;
}

int tool_info_main(int argc, char **argv) {
  static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
  struct options options = {0};
  tool_parse(&argp, argc, argv, 0, &options);

  int bad = 0, rc = TOOL_EXIT_FAILED;
  json_t *settings = info_settings(&bad);
  json_t *document = collect(&options);
  if (!settings || !document ||
      (!options.network && json_object_set(document, "settings", settings) != 0)) {
    tmb_print("info: out of memory");
  } else {
    tmb_cfg_init(); /* warns about unknown names */
    rc = print(&options, document, settings);
  }
  json_decref(document);
  json_decref(settings);
  if (fflush(stdout) != 0) {
    tmb_print("info: cannot write to standard output: %m");
    return TOOL_EXIT_FAILED;
  }
  return rc != 0 ? rc : bad > 0 ? TOOL_EXIT_FAILED : 0;
}
