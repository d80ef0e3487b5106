/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of a message: see messages.h.
 *
 * Owns: the table of formats, from messages.def. Called by log.c. Calls: libc's string functions.
 * Invariants: a whole format is found before a part of one; the linker keeps one copy of a format
 * that stands here and where the message is made.
 */
#include "base/messages/messages.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

struct row {
  unsigned number;
  const char *text;
};

#define TMB_MESSAGES(family, files, title, cause, remedy, example)
#define TMB_MESSAGE_CODE(number, text)
#define TMB_MESSAGE_OLD(number, text)

static const struct row formats[] = {
#define TMB_MESSAGE(number, text) {number, text},
#define TMB_MESSAGE_PART(number, text)
#include "base/messages/messages.def"
#undef TMB_MESSAGE
#undef TMB_MESSAGE_PART
};

static const struct row parts[] = {
#define TMB_MESSAGE(number, text)
#define TMB_MESSAGE_PART(number, text) {number, text},
#include "base/messages/messages.def"
#undef TMB_MESSAGE
#undef TMB_MESSAGE_PART
};

unsigned tmb_message_number(const char *format) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (strcmp(formats[i].text, format) == 0) return formats[i].number;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(format, parts[i].text)) return parts[i].number;
  return 0;
}
