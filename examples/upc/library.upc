/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library.upc: calls of the UPC library: pointers, copies in progress, atomics, sorting, files.
 *
 * Compile: tombolo upcc library.upc -o library
 * Run:     tombolo run -n 4 ./library
 */
/* ranks: 4 */
#include <stdio.h>
#include <pupc.h>
#include <upc.h>
#include <upc_atomic.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_io.h>

enum { N = 8 };

static shared [N] int a[N * THREADS];
static shared int64_t sum;

/* Where an element lies. */
static void parts_of_a_pointer(void) {
  shared [N] int *p = &a[N * MYTHREAD + 3];
  printf("thread %d: element %zu of the block of thread %zu\n", MYTHREAD, upc_phaseof(p),
         upc_threadof(p));
}

/* An element of a thread of this host, by an ordinary pointer. */
static void ordinary_pointer(void) {
  int *mine = upc_cast(&a[N * MYTHREAD]);
  for (int i = 0; i < N; i++) mine[i] = (MYTHREAD + 1) * (N - i);
}

/* A copy goes on while the thread works; the second form belongs to Berkeley UPC. */
static void copies_in_progress(void) {
  int row[2][N];
  upc_handle_t first = upc_memget_nb(row[0], &a[0], sizeof row[0]);
  bupc_handle_t second = bupc_memget_async(row[1], &a[0], sizeof row[1]);
  upc_sync(first);
  bupc_waitsync(second);
}

/* Every second element: N / 2 pieces of one int, from memory of the thread to the next one. */
static void every_second(void) {
  int row[N] = {0};
  const int next = (MYTHREAD + 1) % THREADS;
  bupc_memput_fstrided(&a[N * next], sizeof(int), 2 * sizeof(int), N / 2, row, sizeof(int),
                       2 * sizeof(int), N / 2);
}

/* A domain names the type and the operations; then all threads add to one word. */
static void add_at_once(void) {
  const int64_t one = 1;
  upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(UPC_INT64, UPC_ADD | UPC_GET, 0);
  upc_atomic_relaxed(domain, NULL, UPC_ADD, &sum, &one, NULL);
  upc_barrier;
  upc_all_atomicdomain_free(domain);
}

static int smaller_first(shared void *left, shared void *right) {
  const int x = *(shared int *)left, y = *(shared int *)right;
  return (x > y) - (x < y);
}

static void sort(void) {
  upc_all_sort(a, sizeof(int), N * THREADS, N, smaller_first, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
}

/* All threads open the file; each writes its line at a place of its own. */
static void write_a_file(const char *name) {
  char line[16];
  snprintf(line, sizeof line, "thread %06d\n", MYTHREAD);
  upc_file_t *file = upc_all_fopen(name, UPC_WRONLY | UPC_CREATE | UPC_INDIVIDUAL_FP, 0, NULL);
  if (!file) upc_global_exit(1);
  upc_all_fseek(file, 14 * MYTHREAD, UPC_SEEK_SET);
  upc_all_fwrite_local(file, line, 1, 14, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  upc_all_fclose(file);
}

/* Time, by the names of Berkeley UPC. */
static void wait_a_while(void) {
  const bupc_tick_t begin = bupc_ticks_now();
  while (bupc_ticks_to_us(bupc_ticks_now() - begin) < 100) bupc_poll();
}

/* Marks of phases for tools that show a program's time; they are accepted and do nothing. */
static void mark_a_phase(void) {
  const unsigned phase = pupc_create_event("phase", "%d");
  pupc_event_start(phase, 1);
  wait_a_while();
  pupc_event_end(phase);
}

/* Texts for a trace by the names of Berkeley UPC; they are accepted and do nothing. */
static void trace(void) {
  bupc_trace_setmask("PG");
  bupc_trace_printf(("thread %d begins", MYTHREAD));
}

int main(void) {
  const char *name = "library.txt";
  ordinary_pointer();
  upc_barrier;
  parts_of_a_pointer();
  copies_in_progress();
  upc_barrier;
  every_second();
  upc_barrier;
  add_at_once();
  sort();
  mark_a_phase();
  trace();
  write_a_file(name);
  upc_barrier;
  if (MYTHREAD == 0) remove(name);
  return sum == THREADS && a[0] == 0 ? 0 : 1;
}
