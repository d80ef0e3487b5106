/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor of tombolo-bench-fortran: hand-offs of a cache line between two processes.
 *
 * Owns: a page that both map, from a memory file that image 1 makes and image 2 opens through
 * /proc. Called by: tombolo-bench-fortran.F90. Calls: libc. Invariants: nothing has a name in a
 * file system; a hand-off is a store by one process that the other waits for, without any library.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define LINE 64

/* Makes the page. [out] fd: of the memory file. Returns the id of this process. */
int floor_make(int *fd);

/* Maps the page of process `pid`. */
void floor_join(int pid, int fd);

/* Both call: `count` round trips. [in] first: 1 on the side that begins. Returns ns per round trip.
 */
double floor_handoff_ns(int first, int count);

static char *page;
static uint64_t turn;

static void map(int fd) {
  page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    perror("tombolo-bench-fortran: mmap");
    exit(1);
  }
}

int floor_make(int *fd) {
  *fd = memfd_create("tombolo-bench", 0);
  if (*fd < 0 || ftruncate(*fd, PAGE) != 0) {
    perror("tombolo-bench-fortran: memfd_create");
    exit(1);
  }
  map(*fd);
  return getpid();
}

void floor_join(int pid, int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
  const int own = open(path, O_RDWR);
  if (own < 0) {
    perror("tombolo-bench-fortran: open");
    exit(1);
  }
  map(own);
  close(own);
}

static double now_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return 1e9 * (double)ts.tv_sec + (double)ts.tv_nsec;
}

static void await(const uint64_t *word, uint64_t value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {}
}

double floor_handoff_ns(int first, int count) {
  uint64_t *ping = (uint64_t *)(void *)page, *pong = (uint64_t *)(void *)(page + LINE);
  const double start = now_ns();
  for (int i = 0; i < count; i++) {
    turn++;
    if (!first) await(ping, turn);
    __atomic_store_n(first ? ping : pong, turn, __ATOMIC_RELEASE);
    if (first) await(pong, turn);
  }
  return (now_ns() - start) / count;
}
