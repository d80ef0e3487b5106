/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: reading JSON text from memory, one value after the other, without a tree.
 *
 * Owns: nothing; a reader points into the caller's text. Called by load.c. Calls: libc.
 * Invariants: after the first error every call returns false and `error` describes it; a reader
 * never looks behind `end`. Numbers of a million events are read in about a second.
 */
#ifndef TMB_TOOLS_VIEW_JSON_H
#define TMB_TOOLS_VIEW_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_json {
  const char *at, *begin, *end;
  const char *error; /* NULL: none so far */
};

/* A piece of the text: the inside of a string with its escapes, or a number's digits. */
struct view_span {
  const char *text;
  size_t bytes;
};

/* Whether the next value begins with `open`, one of { [; then the reader is inside. */
bool view_json_enter(struct view_json *j, char open);

/* Move to the next member of an object, or the next item of an array. Return false behind the
 * last one, at the end of the text (a cut file), or after an error. out key: of the member. */
bool view_json_member(struct view_json *j, struct view_span *key);
bool view_json_item(struct view_json *j);

/* Read or leave out one value. A number written as a string is taken as a number. */
bool view_json_string(struct view_json *j, struct view_span *out);
bool view_json_number(struct view_json *j, double *out);
bool view_json_skip(struct view_json *j);

/* Read a number in thousandths, exactly: microseconds with a fraction as whole nanoseconds. */
bool view_json_milli(struct view_json *j, int64_t *out);

/* The first character of the next value; 0 at the end of the text. */
char view_json_peek(struct view_json *j);

/* Write a string without its escapes, as UTF-8. out text: [span.bytes + 1]. Returns its length. */
size_t view_json_plain(struct view_span span, char *text);

bool view_span_is(struct view_span span, const char *text);

#endif
