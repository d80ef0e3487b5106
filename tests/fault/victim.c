/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that misbehaves on request, driven by the scripts in tests/fault and tests/multi.
 * Without arguments it starts, meets the others and ends well. `R` is a rank, `C` an exit code.
 */
/* mode: PAR */
/* ranks: 1 2 4 */
#define _GNU_SOURCE
#include <gasnet.h>
#include <gasnet_tools.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { HANDLER_EXIT = 200 };

static int me, count;
static int exit_code;

static void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK) {
    fprintf(stderr, "victim: rank %d: barrier failed\n", me);
    gasnet_exit(99);
  }
}

static void on_exit_request(gasnet_token_t token, gasnet_handlerarg_t code) {
  (void)token;
  gasnet_exit(code);
}

/* Tells the driver that this rank is where it should be. */
static void say_ready(void) {
  printf("ready %d %d\n", me, (int)getpid());
  fflush(stdout);
}

/* Half of the ranks wait in the library, half outside of it. */
static void hang(void) {
  if (me % 2) barrier();
  for (;;) pause();
}

static void attach(void) {
  gasnet_handlerentry_t table[] = {{HANDLER_EXIT, (void (*)())on_exit_request}};
  const int rc = gasnet_attach(table, 1, GASNET_PAGESIZE, 0);
  if (rc != GASNET_OK) {
    fprintf(stderr, "victim: rank %d: gasnet_attach: %s\n", me, gasnet_ErrorName(rc));
    gasnet_exit(98);
  }
}

static void start(int *argc, char ***argv) {
  const int rc = gasnet_init(argc, argv);
  if (rc != GASNET_OK) {
    fprintf(stderr, "victim: gasnet_init: %s\n", gasnet_ErrorName(rc));
    exit(97);
  }
  me = (int)gasnet_mynode();
  count = (int)gasnet_nodes();
}

static void on_user_signal(int sig) {
  (void)sig;
  gasnet_exit(exit_code);
}

static void on_client_quit(int sig) {
  (void)sig;
  static const char text[] = "client handler\n";
  if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(96);
  gasnet_exit(exit_code);
}

static void *exit_thread(void *arg) {
  (void)arg;
  gasnet_exit(exit_code);
  return NULL;
}

static void *lock_thread(void *arg) {
  flockfile(stdout);
  __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
  for (;;) pause();
  return NULL;
}

static void exit_from_threads(void) {
  pthread_t threads[8];
  for (int i = 0; i < 8; i++)
    if (pthread_create(&threads[i], NULL, exit_thread, NULL) != 0) abort();
  gasnet_exit(exit_code);
}

static void exit_with_locked_stream(void) {
  static int locked;
  pthread_t thread;
  if (pthread_create(&thread, NULL, lock_thread, &locked) != 0) abort();
  while (!__atomic_load_n(&locked, __ATOMIC_ACQUIRE)) usleep(1000);
  gasnet_exit(exit_code);
}

static volatile int depth_left = 1 << 30;

static void overflow_stack(volatile char *above) {
  volatile char here[4096];
  here[0] = above ? (char)(above[0] + 1) : 0;
  if (depth_left-- > 0) overflow_stack(here);
  here[1] = here[0];
}

static void write_to_nowhere(void) {
  volatile uintptr_t nowhere = 8;
  *(volatile int *)nowhere = 1;
}

static void ignore_requests(void) {
  signal(SIGQUIT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  say_ready();
  hang();
}

/* Sends and reads without end; a signal handler ends it, most often inside the conduit. */
static void exit_from_flood(void) {
  static char data[1024];
  const gasnet_node_t peer = (gasnet_node_t)((me + 1) % count);
  gasnet_seginfo_t *segments = calloc((size_t)count, sizeof *segments);
  if (!segments || gasnet_getSegmentInfo(segments, count) != GASNET_OK) abort();
  signal(SIGALRM, on_user_signal);
  ualarm((useconds_t)(20000 + (getpid() * 7919u) % 30000), 0);
  for (;;) {
    gasnet_put_nbi_bulk(peer, segments[peer].addr, data, sizeof data);
    gasnet_put_nbi_val(peer, segments[peer].addr, 1, 4);
    (void)gasnet_get_val(peer, segments[peer].addr, 4);
  }
}

/* Pin this process to the first processor it may use. */
static void pin(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) abort();
  int cpu = 0;
  while (!CPU_ISSET(cpu, &set)) cpu++;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) abort();
}

/* Takes the processor for `seconds` s from ranks that are nice. */
static void start_hogs(unsigned seconds) {
  enum { HOGS = 5 };
  for (int i = 0; i < HOGS; i++) {
    const pid_t pid = fork();
    if (pid != 0) continue;
    for (int fd = 0; fd < 256; fd++) close(fd);
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    for (;;) continue;
  }
}

/* Ranks that hardly get a processor print after the last barrier, which rank 0 has left long ago.
 */
static int print_late(void) {
  pin();
  if (me != 0 && nice(10) < 0) abort();
  barrier();
  if (me == 0) {
    start_hogs(1);
    return 0;
  }
  const clock_t begin = clock();
  while (clock() - begin < CLOCKS_PER_SEC / 50) continue;
  printf("late words of rank %d\n", me);
  return 0;
}

/* Ranks that get a processor once in a second or so hold a line back when rank 0 ends the job. */
static void starve(void) {
  pin();
  if (me == 0) {
    start_hogs(4);
    usleep(1000000);
    gasnet_exit(exit_code);
  }
  setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
  printf("last words of rank %d\n", (int)me);
  if (nice(19) < 0) abort();
  for (;;) continue;
}

/* Manners in which one rank ends while the others hang. Returns only for `return`. */
static void end_one(const char *how) {
  if (strcmp(how, "gexit") == 0) gasnet_exit(exit_code);
  if (strcmp(how, "exit") == 0) exit(exit_code);
  if (strcmp(how, "uexit") == 0) _exit(exit_code);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "misuse") == 0) gasnett_fatalerror("this rank gives up");
  if (strcmp(how, "segv") == 0) write_to_nowhere();
  if (strcmp(how, "overflow") == 0) overflow_stack(NULL);
  if (strcmp(how, "raise") == 0) raise(exit_code);
  if (strcmp(how, "threads") == 0) exit_from_threads();
  if (strcmp(how, "locked") == 0) exit_with_locked_stream();
  if (strcmp(how, "flood") == 0) exit_from_flood();
  if (strcmp(how, "insignal") == 0) {
    signal(SIGUSR1, on_user_signal);
    raise(SIGUSR1);
  }
  if (strcmp(how, "handler") == 0) {
    gasnet_AMRequestShort1((gasnet_node_t)((me + 2) % count), HANDLER_EXIT, exit_code);
    for (;;) gasnet_AMPoll();
  }
}

/* one HOW R C: rank R ends as HOW says with code C, the others hang. */
static int one(char **argv) {
  const int who = atoi(argv[1]);
  exit_code = atoi(argv[2]);
  attach();
  say_ready();
  barrier();
  if (me != who) hang();
  end_one(argv[0]);
  return exit_code;
}

/* early HOW R C: rank R ends before it attaches; the others attach. */
static int early(char **argv) {
  exit_code = atoi(argv[2]);
  if (me == atoi(argv[1])) {
    end_one(argv[0]);
    return exit_code;
  }
  attach();
  hang();
  return 0;
}

/* Meets the others again and again. */
static int meet_for(double seconds) {
  struct timespec from, now;
  attach();
  say_ready();
  clock_gettime(CLOCK_MONOTONIC, &from);
  long rounds = 0;
  int go_on = 1;
  while (go_on) {
    for (int i = 0; i < 10; i++) barrier();
    rounds += 10;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double passed =
        (double)(now.tv_sec - from.tv_sec) + (double)(now.tv_nsec - from.tv_nsec) * 1e-9;
    /* rank 0 decides; the value of a named barrier carries the decision to the others */
    const int done = passed >= seconds;
    gasnet_barrier_notify(done, me == 0 ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(done, me == 0 ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
    int result = 0;
    go_on = gasnet_barrier_result(&result) == 0 && result == 0;
  }
  printf("worked %d\n", me);
  return rounds > 0 ? 0 : 95;
}

static void *work_thread(void *arg) {
  (void)meet_for(*(const double *)arg);
  fflush(stdout);
  return NULL;
}

/* No more threads. The limit does not count for root, so root becomes nobody. */
static void refuse_threads(void) {
  if (setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1}) != 0) abort();
  if (getuid() == 0 && setuid(65534) != 0) abort();
}

/* work SECONDS [last|refused]: meets the others so long. With a second word: by a thread, the main
 * thread ends before; refused: and then no thread can start. */
static int work(char **argv) {
  static double seconds;
  pthread_t thread;
  seconds = atof(argv[0]);
  if (!argv[1]) return meet_for(seconds);
  if (pthread_create(&thread, NULL, work_thread, &seconds) != 0) abort();
  if (strcmp(argv[1], "refused") == 0) refuse_threads();
  pthread_exit(NULL);
}

/* lines N: N numbered lines on each stream, then one without an end. The first to return ends the
 * job, so it waits until all have printed. */
static int lines(char **argv) {
  const long n = atol(argv[0]);
  for (long i = 0; i < n; i++) {
    printf("out %ld of rank %d abcdefghijklmnopqrstuvwxyz\n", i, me);
    if (i % 8 == 0) fprintf(stderr, "err %ld of rank %d\n", i, me);
  }
  printf("last of rank %d", me);
  barrier();
  return 0;
}

static int print_stdin(void) {
  char line[256];
  while (fgets(line, sizeof line, stdin)) printf("rank %d read %s", me, line);
  printf("rank %d at end\n", me);
  fflush(stdout);
  barrier();
  return 0;
}

static int print_env(char **argv) {
  const char *value = getenv(argv[0]);
  printf("rank %d env %s\n", me, value ? value : "(unset)");
  barrier();
  return 0;
}

/* Open descriptors, that a program started by a rank would get: none of ours may be among them. */
static int print_fds(void) {
  char command[64];
  fflush(stdout);
  snprintf(command, sizeof command, "ls /proc/self/fd | tr '\\n' ' '");
  const int rc = system(command);
  barrier();
  return rc == 0 ? 0 : 94;
}

/* segment MIB: attaches that much, 0: as much as the limits allow, and touches all of it. */
static int touch_segment(char **argv) {
  const size_t mib = (size_t)atol(argv[0]);
  const size_t bytes = mib ? mib << 20 : gasnet_getMaxGlobalSegmentSize();
  const int rc = gasnet_attach(NULL, 0, bytes, 0);
  if (rc != GASNET_OK) {
    printf("refused %s\n", gasnet_ErrorName(rc));
    return 91;
  }
  gasnet_seginfo_t *all = calloc((size_t)count, sizeof *all);
  if (!all || gasnet_getSegmentInfo(all, count) != GASNET_OK) return 90;
  memset(all[me].addr, 1, bytes);
  barrier();
  printf("touched %d\n", me);
  free(all);
  return 0;
}

/* Print addresses of code and variables of this rank, and the state that a program started by it
 * inherits. */
static int print_addresses(void) {
  printf("addresses %p %p %p\n", (void *)(uintptr_t)barrier, (void *)&exit_code,
         (void *)(uintptr_t)printf);
  fflush(stdout);
  barrier();
  return system("echo \"child $(cat /proc/self/personality)\"") == 0 ? 0 : 92;
}

/* Print facts about this rank and its environment. */
static int print(char **argv) {
  const char *what = argv[0];
  if (strcmp(what, "lines") == 0) return lines(argv + 1);
  if (strcmp(what, "stdin") == 0) return print_stdin();
  if (strcmp(what, "env") == 0) return print_env(argv + 1);
  if (strcmp(what, "addresses") == 0) return print_addresses();
  if (strcmp(what, "fds") == 0) return print_fds();
  fprintf(stderr, "victim: unknown request '%s'\n", what);
  return 93;
}

static int dispatch(char **argv) {
  const char *what = argv[0];
  if (strcmp(what, "one") == 0) return one(argv + 1);
  if (strcmp(what, "early") == 0) return early(argv + 1);
  if (strcmp(what, "work") == 0) return work(argv + 1);
  if (strcmp(what, "segment") == 0) return touch_segment(argv + 1);
  attach();
  if (strcmp(what, "hang") == 0) {
    say_ready();
    hang();
  }
  if (strcmp(what, "ignore") == 0) ignore_requests();
  if (strcmp(what, "starve") == 0) starve();
  if (strcmp(what, "late") == 0) return print_late();
  if (strcmp(what, "leave") == 0) {
    if (me == atoi(argv[1])) return 0;
    barrier();
    return 91;
  }
  if (strcmp(what, "all") == 0) gasnet_exit(atoi(argv[1]) + me);
  if (strcmp(what, "client-quit") == 0) {
    exit_code = atoi(argv[1]);
    signal(SIGQUIT, on_client_quit);
    say_ready();
    hang();
  }
  return print(argv);
}

/* noinit FILE C: the process that creates FILE ends with code C without joining the job. */
static void maybe_never_join(int argc, char **argv) {
  if (argc < 4 || strcmp(argv[1], "noinit") != 0) return;
  if (open(argv[2], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) >= 0) exit(atoi(argv[3]));
}

int main(int argc, char **argv) {
  maybe_never_join(argc, argv);
  start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "noinit") != 0) return dispatch(argv + 1);
  attach();
  barrier();
  printf("rank %d of %d is fine\n", me, count);
  return 0;
}
