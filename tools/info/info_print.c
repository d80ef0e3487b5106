/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo info`: prints the collected document as text, and the settings as text or Markdown.
 *
 * Owns: the layout. Called by info.c. Calls: base/fmt, base/config (families of names), jansson.
 * Invariants: knows no key by name but those of settings and of lists with a name; units come from
 * the keys' last word (info.h).
 */
#include "info/info.h"

#include "base/config.h"
#include "base/fmt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN = 34, LABEL_BYTES = 96 };

static const char *const unit_words[] = {"bytes", "ns", "hz"};

/* Index of the unit that a key ends in, -1 if none. */
static int unit_of(const char *key) {
  const char *last = strrchr(key, '_');
  for (size_t i = 0; last && i < TMB_ARRAY_LEN(unit_words); i++) {
    if (strcmp(last + 1, unit_words[i]) == 0) return (int)i;
  }
  return -1;
}

/* "cache_l2_bytes" -> "cache l2" */
static void make_label(const char *key, char *label) {
  snprintf(label, LABEL_BYTES, "%s", key);
  if (unit_of(key) >= 0) *strrchr(label, '_') = '\0';
  for (char *p = label; *p; p++) {
    if (*p == '_') *p = ' ';
  }
}

/* A value as people read it, with the unit that its key names. */
static void make_text(const char *key, const json_t *value, char *text, size_t text_bytes) {
  const int unit = unit_of(key);
  char scaled[TMB_FMT_BYTES];
  if (json_is_string(value)) {
    const char *s = json_string_value(value);
    snprintf(text, text_bytes, "%s", *s ? s : "none");
  } else if (json_is_integer(value) && unit == 0) {
    const long long n = json_integer_value(value);
    tmb_fmt_bytes((uint64_t)n, scaled, sizeof scaled);
    if (n < 1024)
      snprintf(text, text_bytes, "%s", scaled);
    else
      snprintf(text, text_bytes, "%s (%lld)", scaled, n);
  } else if (json_is_integer(value)) {
    snprintf(text, text_bytes, "%lld", (long long)json_integer_value(value));
  } else if (json_is_real(value) && unit == 2) {
    snprintf(text, text_bytes, "%.3f MHz", json_real_value(value) / 1e6);
  } else if (json_is_real(value)) {
    snprintf(text, text_bytes, "%.3g%s", json_real_value(value), unit == 1 ? " ns" : "");
  } else {
    snprintf(text, text_bytes, "%s", json_is_true(value) ? "yes" : unit == 0 ? "unlimited" : "no");
  }
}

/* Ends a line with a list of texts, if there is one. */
static void print_words(const json_t *words) {
  size_t i;
  json_t *word;
  json_array_foreach(words, i, word) printf("%s %s", i ? "," : ";", json_string_value(word));
  putchar('\n');
}

/* Prints a list of {name, available, why} or {name, <number>} as one line each. */
static void print_list(const json_t *list, int indent) {
  size_t i;
  json_t *item;
  json_array_foreach(list, i, item) {
    const char *name = json_string_value(json_object_get(item, "name"));
    const json_t *available = json_object_get(item, "available");
    if (available) {
      const char *why = json_string_value(json_object_get(item, "why"));
      printf("%*s%-*s %s: %s", indent, "", COLUMN - indent, name,
             json_is_true(available) ? "available" : "not available", why);
      print_words(json_object_get(item, "addresses"));
      continue;
    }
    const char *key;
    json_t *value;
    json_object_foreach(item, key, value) {
      char text[512];
      if (strcmp(key, "name") == 0) continue;
      make_text(key, value, text, sizeof text);
      printf("%*s%-*s %s\n", indent, "", COLUMN - indent, name, text);
    }
  }
}

static void print_section(const json_t *section) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)section, key, value) {
    char label[LABEL_BYTES], text[1024];
    make_label(key, label);
    if (json_is_array(value)) {
      printf("  %s\n", label);
      print_list(value, 4);
      continue;
    }
    make_text(key, value, text, sizeof text);
    printf("  %-*s %s\n", COLUMN - 2, label, text);
  }
}

void info_print_text(const json_t *document) {
  const char *key;
  json_t *section;
  json_object_foreach((json_t *)(uintptr_t)document, key, section) {
    char label[LABEL_BYTES];
    if (strcmp(key, "settings") == 0) continue;
    make_label(key, label);
    label[0] = (char)(label[0] - 'a' + 'A');
    printf("%s\n", label);
    if (json_is_array(section))
      print_list(section, 2);
    else
      print_section(section);
    putchar('\n');
  }
}

static const char *text_of(const json_t *row, const char *key) {
  return json_string_value(json_object_get(row, key));
}

/* The first name of a setting, and its second one in *other if it has two. */
static const char *names_of(const json_t *row, const char **other) {
  const char *name = text_of(row, "name"), *alias = text_of(row, "alias");
  *other = name ? alias : NULL;
  return name ? name : alias;
}

static void print_setting(const json_t *row) {
  const char *other, *value = text_of(row, "value"), *error = text_of(row, "error");
  const char *name = names_of(row, &other), *unit = text_of(row, "unit");
  if (error)
    printf("  %s: INVALID\n      %s\n", name, error);
  else
    printf("  %s = %s  (%s)\n", name, value ? value : "unset", text_of(row, "source"));
  printf("      %s", text_of(row, "help"));
  if (strcmp(text_of(row, "type"), "choice") == 0)
    printf("; %s", text_of(row, "allowed"));
  else if (*unit)
    printf(strcmp(text_of(row, "type"), "text") == 0 ? "; given as %s" : "; in %s", unit);
  if (other) printf("; also %s", other);
  putchar('\n');
}

/* Whether a setting is in the lists: one of tests only where it is set. */
static bool is_shown(const json_t *row) {
  const char *source = text_of(row, "source");
  return !json_is_true(json_object_get(row, "test")) || !source || strcmp(source, "default") != 0;
}

/* The title of a row's group where it differs from *last, which it replaces, else NULL. */
static const char *new_group(const json_t *row, const char **last) {
  const char *group = text_of(row, "group");
  if (*last && strcmp(*last, group) == 0) return NULL;
  return *last = group;
}

void info_print_settings(const json_t *settings) {
  size_t i;
  json_t *row;
  const char *last = NULL;
  json_array_foreach(settings, i, row) {
    if (!json_is_true(json_object_get(row, "effect")) || !is_shown(row)) continue;
    const char *group = new_group(row, &last);
    if (group) printf("%sSettings: %s\n", i ? "\n" : "", group);
    print_setting(row);
  }
  puts("\nSettings that are accepted without effect");
  json_array_foreach(settings, i, row) {
    if (json_is_true(json_object_get(row, "effect"))) continue;
    const char *value = text_of(row, "value");
    printf("  %-*s %s%s%s\n", COLUMN, text_of(row, "alias"), text_of(row, "help"),
           value && strncmp(text_of(row, "source"), "env", 3) == 0 ? "; set to " : "",
           value && strncmp(text_of(row, "source"), "env", 3) == 0 ? value : "");
  }
  size_t count;
  const struct tmb_cfg_prefix *prefixes = tmb_cfg_prefixes(&count);
  puts("\nFamilies of names");
  for (i = 0; i < count; i++) printf("  %-*s %s\n", COLUMN, prefixes[i].prefix, prefixes[i].help);
}

/* Prints text with the bars that would end a cell of the table replaced. */
static void print_cell(const char *text) {
  fputs("| ", stdout);
  for (; *text; text++) {
    if (*text == '|')
      fputs(", ", stdout);
    else
      putchar(*text);
  }
  putchar(' ');
}

static void print_markdown_row(const json_t *row) {
  char cell[256];
  const char *other, *dflt = text_of(row, "default");
  const char *name = names_of(row, &other), *unit = text_of(row, "unit");
  snprintf(cell, sizeof cell, other ? "`%s`<br>`%s`" : "`%s`", name, other);
  print_cell(cell);
  snprintf(cell, sizeof cell, dflt ? "`%s`" : "unset", dflt);
  print_cell(cell);
  print_cell(text_of(row, "allowed"));
  print_cell(strcmp(unit, text_of(row, "allowed")) == 0 ? "" : unit);
  print_cell(text_of(row, "help"));
  puts("|");
}

/* Whether a row before row i has this reason. */
static bool has_reason_before(const json_t *settings, size_t i, const char *why) {
  while (i-- > 0)
    if (strcmp(text_of(json_array_get(settings, i), "help"), why) == 0) return true;
  return false;
}

/* Settings without effect: a line for each reason, with all of its names. */
static void print_ignored(const json_t *settings) {
  const size_t count = json_array_size(settings);
  for (size_t i = 0; i < count; i++) {
    const json_t *row = json_array_get(settings, i);
    const char *const why = text_of(row, "help"), *separator = "| ", *other;
    if (json_is_true(json_object_get(row, "effect"))) continue;
    if (has_reason_before(settings, i, why)) continue;
    for (size_t k = i; k < count; k++) {
      row = json_array_get(settings, k);
      if (strcmp(text_of(row, "help"), why) != 0) continue;
      printf("%s`%s`", separator, names_of(row, &other));
      separator = ", ";
    }
    printf(" | %s |\n", why);
  }
}

void info_print_markdown(const json_t *settings) {
  size_t i, count;
  json_t *row;
  const char *last = NULL;
  puts("<!-- Generated by `tombolo info --config --markdown`: edit src/base/config.def instead. "
       "-->\n"
       "# Settings\n\n"
       "Settings are environment variables, read once when a program starts. Where a setting has "
       "two "
       "names, the\nfirst one wins. An empty value counts as unset. A value that is not allowed "
       "ends "
       "the program with a message;\na name that is not known here is reported once, with the "
       "nearest "
       "one that is. `tombolo info --config`\nshows the values in effect and where they come "
       "from.\n\n"
       "Most programs need none. To run on several hosts, set `TOMBOLO_HOSTS` and, where the "
       "network is not "
       "Ethernet, `TOMBOLO_CONDUIT`.");
  json_array_foreach(settings, i, row) {
    if (!json_is_true(json_object_get(row, "effect")) || json_is_true(json_object_get(row, "test")))
      continue;
    if (new_group(row, &last))
      printf("\n## %s\n\n| name | default | allowed | unit | meaning |\n|---|---|---|---|---|\n",
             last);
    print_markdown_row(row);
  }
  puts("\n## Accepted without effect\n\n"
       "Programs and scripts for other GASNet implementations set these; this library has nothing "
       "to do "
       "with them.\n\n| names | why |\n|---|---|");
  print_ignored(settings);
  const struct tmb_cfg_prefix *prefixes = tmb_cfg_prefixes(&count);
  puts("\n## Families of names\n\n| names | meaning |\n|---|---|");
  for (i = 0; i < count; i++) printf("| `%s...` | %s |\n", prefixes[i].prefix, prefixes[i].help);
}
