/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal of `tombolo top`, see top_screen.h.
 *
 * Owns: the terminal's former modes and the signals of this process. Called as top_screen.h says.
 * Calls: termios, the clock. A frame is one write: cursor home, each line followed by "erase to the
 * end of the line", and at the end "erase what is below". Signals are blocked but while a key is
 * waited for. Invariants: nothing is erased before something is written in its place.
 */
#define _GNU_SOURCE
#include "why/top_screen.h"

#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct {
  struct termios before;
  sigset_t mask_before;
  bool open;
} screen;
static volatile sig_atomic_t ended, resized;

static void on_end(int signal) {
  (void)signal;
  ended = 1;
}

static void on_size(int signal) {
  (void)signal;
  resized = 1;
}

/* Writes all of it; a closed terminal ends the command. */
static void put(const char *text, size_t bytes) {
  while (bytes) {
    const ssize_t n = write(STDOUT_FILENO, text, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      ended = 1;
      return;
    }
    text += n;
    bytes -= (size_t)n;
  }
}

static void put_text(const char *text) {
  put(text, strlen(text));
}

static void take_signals(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct sigaction action = {.sa_handler = on_end};
  sigset_t mask;
  sigemptyset(&mask);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    sigaddset(&mask, ends[i]);
    (void)sigaction(ends[i], &action, NULL);
  }
  sigaddset(&mask, SIGWINCH);
  action.sa_handler = on_size;
  (void)sigaction(SIGWINCH, &action, NULL);
  (void)sigprocmask(SIG_BLOCK, &mask, &screen.mask_before);
}

bool top_screen_open(void) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return false;
  if (tcgetattr(STDIN_FILENO, &screen.before) != 0) return false;
  struct termios raw = screen.before;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* who stops it would get the terminal in this mode */
  take_signals();
  (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  screen.open = true;
  put_text("\033[?1049h\033[?25l");
  return true;
}

void top_screen_close(void) {
  if (!screen.open) return;
  screen.open = false;
  put_text("\033[?25h\033[?1049l");
  (void)tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
  (void)sigprocmask(SIG_SETMASK, &screen.mask_before, NULL);
}

void top_screen_size(unsigned *rows, unsigned *columns) {
  struct winsize size = {0};
  (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  *rows = size.ws_row >= 2 ? size.ws_row : size.ws_row ? 2 : 24;
  *columns = size.ws_col >= 20 ? size.ws_col : size.ws_col ? 20 : 80;
}

/* A key of several bytes, which begins with escape. */
static int key_of(const char *bytes) {
  static const struct {
    const char *bytes;
    int key;
  } keys[] = {{"\033[A", TOP_KEY_UP},       {"\033OA", TOP_KEY_UP},
              {"\033[B", TOP_KEY_DOWN},     {"\033OB", TOP_KEY_DOWN},
              {"\033[5~", TOP_KEY_PAGE_UP}, {"\033[6~", TOP_KEY_PAGE_DOWN},
              {"\033[H", TOP_KEY_HOME},     {"\033[1~", TOP_KEY_HOME}};
  if (bytes[0] != '\033') return (unsigned char)bytes[0];
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(bytes, keys[i].bytes) == 0) return keys[i].key;
  return 0;
}

int top_screen_key(uint64_t until_ns) {
  char bytes[16] = "";
  for (;;) {
    const uint64_t now = tmb_os_now_ns();
    if (ended) return TOP_KEY_QUIT;
    if (resized) {
      resized = 0;
      return TOP_KEY_SIZE;
    }
    if (now >= until_ns) return TOP_KEY_NONE;
    const uint64_t left = until_ns - now;
    const struct timespec limit = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    if (ppoll(&fd, 1, &limit, &screen.mask_before) <= 0) continue;
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes - 1);
    if (n <= 0) return TOP_KEY_QUIT; /* the terminal is closed */
    bytes[n] = '\0';
    return key_of(bytes);
  }
}

void top_screen_show(const char *text) {
  char *frame = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&frame, &bytes);
  if (!out) return;
  fputs("\033[H", out);
  for (const char *line = text; *line;) {
    const size_t length = strcspn(line, "\n");
    fwrite(line, 1, length, out);
    fputs("\033[K", out);
    line += length + (line[length] == '\n');
    if (*line) fputs("\r\n", out); /* none behind the last row, or the screen moves up */
  }
  fputs("\033[J", out);
  if (fclose(out) == 0) put(frame, bytes);
  free(frame);
}
