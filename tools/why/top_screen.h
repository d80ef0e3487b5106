/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal of `tombolo top`: a screen of its own, keys, size.
 *
 * Owns: declarations of top_screen.c. Called by top.c. Calls: termios. Invariants: between open and
 * close the terminal's former contents and modes are kept, and close brings them back; close is
 * called at every end, also after signals that end the command.
 */
#ifndef TMB_TOOL_WHY_TOP_SCREEN_H
#define TMB_TOOL_WHY_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys beside characters. */
enum {
  TOP_KEY_NONE = -1,
  TOP_KEY_QUIT = 256,
  TOP_KEY_SIZE,
  TOP_KEY_UP,
  TOP_KEY_DOWN,
  TOP_KEY_PAGE_UP,
  TOP_KEY_PAGE_DOWN,
  TOP_KEY_HOME
};

/* Take the terminal. Returns false where standard input or output is none. */
bool top_screen_open(void);
void top_screen_close(void);

/* out rows, columns: of the terminal now, at least 2 and 20. */
void top_screen_size(unsigned *rows, unsigned *columns);

/* Wait for a key, a new size or a signal that ends the command, until a time of tmb_os_now_ns.
 * Returns a character, TOP_KEY_*, or TOP_KEY_NONE when the time has come. */
int top_screen_key(uint64_t until_ns);

/* Show a frame. in text: lines that end with a newline, none wider than the screen, at most as many
 * as it has rows. Old text is written over, so that nothing flickers. */
void top_screen_show(const char *text);

#endif
