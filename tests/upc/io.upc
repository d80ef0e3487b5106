/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel I/O: files, both file pointers, layouts, lists, asynchronous forms (<upc_io.h>). */
/* again: TOMBOLO_TEST_SHM=0 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <upc_io.h>
#include <upc_relaxed.h>
#include "check.h"

#if __UPC_IO__ < 2
# error "parallel I/O with UPC_ASYNC is announced"
#endif

#define N 5000 /* elements a thread */

shared [] char shared_name[200];
static char name[200];
shared int cyclic[N * THREADS], cyclic_back[N * THREADS];
shared [7] int blocked[N * THREADS];
shared [N] int large[N * THREADS];
shared [] int one_thread[2000];

static upc_file_t *reopen(int flags) {
  upc_file_t *f = upc_all_fopen(name, flags, 0, NULL);
  CHECK(f != NULL);
  return f;
}

static void open_and_errors(void) {
  errno = 0;
  CHECK(upc_all_fopen(name, UPC_RDONLY | UPC_COMMON_FP, 0, NULL) == NULL);
  CHECK_EQ(errno, ENOENT);
  CHECK(upc_all_fopen(name, UPC_CREATE | UPC_RDONLY | UPC_WRONLY | UPC_COMMON_FP, 0, NULL) == NULL);
  CHECK_EQ(errno, EINVAL);
  CHECK(upc_all_fopen(name, UPC_CREATE | UPC_RDWR, 0, NULL) == NULL);
  upc_file_t *f = reopen(UPC_CREATE | UPC_EXCL | UPC_RDWR | UPC_COMMON_FP);
  CHECK_EQ(upc_all_fget_size(f), 0);
  CHECK_EQ(upc_all_fclose(f), 0);
  CHECK(upc_all_fopen(name, UPC_CREATE | UPC_EXCL | UPC_RDWR | UPC_COMMON_FP, 0, NULL) == NULL);
  CHECK_EQ(errno, EEXIST);
  f = reopen(UPC_RDONLY | UPC_INDIVIDUAL_FP);
  CHECK_EQ(upc_all_fwrite_local(f, name, 1, 1, 0), -1);
  CHECK_EQ(errno, EBADF);
  CHECK_EQ(upc_all_fseek(f, -1, UPC_SEEK_SET), -1);
  CHECK_EQ(upc_all_fclose(f), 0);
}

static void individual(void) {
  int mine[100], theirs[100];
  const int next = (MYTHREAD + 1) % THREADS;
  upc_file_t *f = reopen(UPC_RDWR | UPC_INDIVIDUAL_FP);
  for (int i = 0; i < 100; i++) mine[i] = MYTHREAD * 1000 + i;
  CHECK_EQ(upc_all_fseek(f, MYTHREAD * (int)sizeof mine, UPC_SEEK_SET),
           MYTHREAD * (int)sizeof mine);
  CHECK_EQ(upc_all_fwrite_local(f, mine, sizeof(int), 100, UPC_IN_NOSYNC | UPC_OUT_NOSYNC),
           sizeof mine);
  CHECK_EQ(upc_all_fseek(f, 0, UPC_SEEK_CUR), (MYTHREAD + 1) * (int)sizeof mine);
  CHECK_EQ(upc_all_fsync(f), 0);
  upc_all_fseek(f, next * (int)sizeof mine, UPC_SEEK_SET);
  CHECK_EQ(upc_all_fread_local(f, theirs, sizeof(int), 100, 0), sizeof theirs);
  for (int i = 0; i < 100; i++) CHECK_EQ(theirs[i], next * 1000 + i);
  CHECK_EQ(upc_all_fread_local(f, NULL, sizeof(int), 0, 0), 0);
  /* Short at the end, nothing behind it. */
  CHECK_EQ(upc_all_fseek(f, -8, UPC_SEEK_END), THREADS * (int)sizeof mine - 8);
  CHECK_EQ(upc_all_fread_local(f, theirs, 1, 100, 0), 8);
  CHECK_EQ(upc_all_fread_local(f, theirs, 1, 100, 0), 0);
  CHECK_EQ(upc_all_fget_size(f), THREADS * (int)sizeof mine);
  /* Each thread into shared memory of another one, from a place of its own. */
  upc_all_fseek(f, MYTHREAD * (int)sizeof mine, UPC_SEEK_SET);
  CHECK_EQ(upc_all_fread_shared(f, &large[N * next], N, sizeof(int), 100, 0), sizeof mine);
  upc_barrier;
  for (int i = 0; i < 100; i++)
    CHECK_EQ(large[N * MYTHREAD + i], (MYTHREAD + THREADS - 1) % THREADS * 1000 + i);
  CHECK_EQ(upc_all_fclose(f), 0);
}

static void common(void) {
  const int n = N * THREADS, bytes = n * (int)sizeof(int);
  upc_file_t *f = reopen(UPC_RDWR | UPC_COMMON_FP | UPC_TRUNC);
  int local;
  CHECK_EQ(upc_all_fread_local(f, &local, sizeof local, 1, 0), -1);
  upc_forall (int i = 0; i < n; i++; &cyclic[i]) cyclic[i] = 3 * i;
  CHECK_EQ(upc_all_fwrite_shared(f, cyclic, 1, sizeof(int), n, 0), bytes);
  CHECK_EQ(upc_all_fseek(f, 0, UPC_SEEK_CUR), bytes);
  CHECK_EQ(upc_all_fseek(f, 0, UPC_SEEK_SET), 0);
  CHECK_EQ(upc_all_fread_shared(f, blocked, 7, sizeof(int), n, UPC_IN_MYSYNC | UPC_OUT_ALLSYNC),
           bytes);
  for (int i = MYTHREAD; i < n; i += 97) CHECK_EQ(blocked[i], 3 * i);
  upc_all_fseek(f, 4, UPC_SEEK_SET);
  CHECK_EQ(upc_all_fread_shared(f, large, N, sizeof(int), n, 0), bytes - 4); /* short */
  for (int i = MYTHREAD; i < n - 1; i += 89) CHECK_EQ(large[i], 3 * (i + 1));
  upc_all_fseek(f, 400, UPC_SEEK_SET);
  CHECK_EQ(upc_all_fread_shared(f, one_thread, 0, sizeof(int), 2000, 0), 8000);
  for (int i = 0; i < 2000; i += 31) CHECK_EQ(one_thread[i], 3 * (i + 100));
  /* From the middle of an array: its thread counts, the phase does not. */
  upc_all_fseek(f, 0, UPC_SEEK_SET);
  CHECK_EQ(upc_all_fread_shared(f, &cyclic_back[1], 1, sizeof(int), n - 1, 0), bytes - 4);
  for (int i = MYTHREAD; i < n - 1; i += 83) CHECK_EQ(cyclic_back[i + 1], 3 * i);
  upc_all_fseek(f, bytes + 100, UPC_SEEK_SET);
  CHECK_EQ(upc_all_fwrite_shared(f, cyclic, 1, 1, 0, 0), 0);
  CHECK_EQ(upc_all_fget_size(f), bytes);
  CHECK_EQ(upc_all_fwrite_shared(f, one_thread, 0, 1, 12, 0), 12); /* extends */
  CHECK_EQ(upc_all_fget_size(f), bytes + 112);
  CHECK_EQ(upc_all_fclose(f), 0);
}

static void sizes(void) {
  upc_file_t *f = reopen(UPC_RDWR | UPC_COMMON_FP | UPC_TRUNC);
  CHECK_EQ(upc_all_fset_size(f, 1000), 0);
  CHECK_EQ(upc_all_fget_size(f), 1000);
  CHECK_EQ(upc_all_fpreallocate(f, 5000), 0);
  CHECK(upc_all_fget_size(f) >= 1000);
  CHECK_EQ(upc_all_fset_size(f, 10), 0);
  CHECK_EQ(upc_all_fset_size(f, -1), -1);
  CHECK_EQ(upc_all_fclose(f), 0);
  f = reopen(UPC_RDWR | UPC_COMMON_FP | UPC_APPEND);
  CHECK_EQ(upc_all_fseek(f, 0, UPC_SEEK_CUR), 10);
  CHECK_EQ(upc_all_fclose(f), 0);
}

static void lists(void) {
  char a[10], b[10];
  upc_file_t *f = reopen(UPC_RDWR | UPC_INDIVIDUAL_FP | UPC_TRUNC);
  memset(a, 'a' + MYTHREAD, sizeof a);
  struct upc_local_memvec memory[] = {{a, 4}, {a + 6, 0}, {a + 4, 4}};
  struct upc_filevec places[] = {{MYTHREAD * 16, 3}, {MYTHREAD * 16 + 8, 5}};
  CHECK_EQ(upc_all_fwrite_list_local(f, 3, memory, 2, places, 0), 8);
  CHECK_EQ(upc_all_fseek(f, 0, UPC_SEEK_CUR), 0);
  upc_all_fsync(f);
  const int next = (MYTHREAD + 1) % THREADS;
  struct upc_local_memvec back[] = {{b, 8}};
  struct upc_filevec other[] = {{next * 16 + 1, 2}, {next * 16 + 8, 5}, {next * 16 + 12, 1}};
  CHECK_EQ(upc_all_fread_list_local(f, 1, back, 3, other, 0), 8);
  for (int i = 0; i < 8; i++) CHECK_EQ(b[i], 'a' + next);
  struct upc_filevec wrong[] = {{8, 4}, {0, 4}};
  CHECK_EQ(upc_all_fread_list_local(f, 1, back, 2, wrong, 0), -1);
  CHECK_EQ(errno, EINVAL);
  wrong[1].len = 0; /* an empty piece is in no order; those around it are */
  CHECK_EQ(upc_all_fread_list_local(f, 1, (struct upc_local_memvec[]){{b, 4}}, 2, wrong, 0), 4);
  struct upc_filevec around[] = {{8, 4}, {0, 0}, {4, 4}};
  CHECK_EQ(upc_all_fread_list_local(f, 1, back, 3, around, 0), -1);
  CHECK_EQ(errno, EINVAL);
  /* Shared: cyclic ints, two ranges each thread. */
  struct upc_shared_memvec vec[] = {{&cyclic[0], sizeof(int), 40}, {one_thread, 0, 40}};
  struct upc_filevec where[] = {{1000 + MYTHREAD * 80, 60}, {1060 + MYTHREAD * 80, 20}};
  for (int i = 0; i < 10; i++) CHECK_EQ(cyclic[i], 3 * i);
  CHECK_EQ(upc_all_fwrite_list_shared(f, 2, vec, 2, where, 0), 80);
  int numbers[20];
  upc_all_fseek(f, 1000 + next * 80, UPC_SEEK_SET);
  CHECK_EQ(upc_all_fread_local(f, numbers, 4, 20, 0), 80);
  for (int i = 0; i < 10; i++) CHECK_EQ(numbers[i], 3 * i);
  for (int i = 0; i < 10; i++) CHECK_EQ(numbers[10 + i], one_thread[i]);
  struct upc_shared_memvec to[] = {{&cyclic_back[MYTHREAD], 0, 80}};
  CHECK_EQ(upc_all_fread_list_shared(f, 1, to, 2, where, 0), 80);
  for (int i = 0; i < 10; i++) CHECK_EQ(((int *)&cyclic_back[MYTHREAD])[i], 3 * i);
  CHECK_EQ(upc_all_fclose(f), 0);
}

static void asynchronous(void) {
  char mine[64], back[64];
  int done = -1;
  upc_file_t *f = reopen(UPC_RDWR | UPC_INDIVIDUAL_FP | UPC_TRUNC);
  memset(mine, 'A' + MYTHREAD, sizeof mine);
  CHECK_EQ(upc_all_fcntl(f, UPC_ASYNC_OUTSTANDING, NULL), 0);
  CHECK_EQ(upc_all_fwait_async(f), -1);
  upc_all_fseek(f, 64 * MYTHREAD, UPC_SEEK_SET);
  upc_all_fwrite_local_async(f, mine, 1, 64, 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_ASYNC_OUTSTANDING, NULL), 1);
  CHECK_EQ(upc_all_fwait_async(f), 64);
  CHECK_EQ(upc_all_fcntl(f, UPC_ASYNC_OUTSTANDING, NULL), 0);
  upc_all_fsync(f);
  upc_all_fseek(f, 64 * MYTHREAD, UPC_SEEK_SET);
  upc_all_fread_local(f, back, 1, 64, UPC_ASYNC);
  upc_off_t result = 0;
  while (!done || done == -1) result = upc_all_ftest_async(f, &done);
  CHECK_EQ(result, 64);
  CHECK(memcmp(mine, back, 64) == 0);
  struct upc_filevec place = {64 * MYTHREAD, 64};
  struct upc_local_memvec into = {back, 64};
  upc_all_fread_list_local_async(f, 1, &into, 1, &place, 0);
  CHECK_EQ(upc_all_fwait_async(f), 64);
  CHECK_EQ(upc_all_fcntl(f, UPC_SET_COMMON_FP, NULL), 0);
  upc_all_fread_shared_async(f, one_thread, 0, 1, 64, 0);
  CHECK_EQ(upc_all_fwait_async(f), 64);
  upc_all_fwrite_shared_async(f, one_thread, 0, 1, 64, 0);
  CHECK_EQ(upc_all_fclose(f), -1); /* the operation has not been waited for; the file stays open */
  CHECK_EQ(errno, EBUSY);
  CHECK_EQ(upc_all_fcntl(f, UPC_ASYNC_OUTSTANDING, NULL), 1);
  CHECK_EQ(upc_all_fwait_async(f), 64);
  CHECK_EQ(upc_all_fclose(f), 0);
}

static void settings(void) {
  const struct upc_hint given[] = {{"access_style", "sequential"}, {"nb_nodes", "2"}};
  const struct upc_hint *hints, another = {"nb_nodes", "3"};
  const char *returned;
  const int flags = UPC_RDWR | UPC_INDIVIDUAL_FP | UPC_STRONG_CA;
  upc_file_t *f = upc_all_fopen(name, flags, 2, given);
  CHECK_EQ(upc_all_fcntl(f, UPC_GET_CA_SEMANTICS, NULL), UPC_STRONG_CA);
  CHECK_EQ(upc_all_fcntl(f, UPC_GET_FL, NULL), flags);
  /* Strong: one of the overlapping writes is there whole. */
  static char page[70000], seen[70000];
  memset(page, 'a' + MYTHREAD, sizeof page);
  for (int i = 0; i < 5; i++) {
    upc_all_fseek(f, 0, UPC_SEEK_SET);
    CHECK_EQ(upc_all_fwrite_local(f, page, 1, sizeof page, 0), sizeof page);
    upc_all_fseek(f, 0, UPC_SEEK_SET);
    CHECK_EQ(upc_all_fread_local(f, seen, 1, sizeof seen, 0), sizeof seen);
    for (size_t k = 1; k < sizeof seen; k++) CHECK_EQ(seen[k], seen[0]);
  }
  CHECK_EQ(upc_all_fcntl(f, UPC_SET_WEAK_CA_SEMANTICS, NULL), 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_GET_CA_SEMANTICS, NULL), 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_SET_STRONG_CA_SEMANTICS, NULL), 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_GET_FP, NULL), UPC_INDIVIDUAL_FP);
  CHECK_EQ(upc_all_fcntl(f, UPC_SET_COMMON_FP, NULL), 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_GET_FP, NULL), UPC_COMMON_FP);
  CHECK_EQ(upc_all_fseek(f, 0, UPC_SEEK_CUR), 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_SET_INDIVIDUAL_FP, NULL), 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_GET_FN, &returned), 0);
  CHECK(strcmp(returned, name) == 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_SET_HINT, (void *)&another), 0);
  CHECK_EQ(upc_all_fcntl(f, UPC_GET_HINTS, &hints), 2);
  CHECK(strcmp(hints[1].key, "nb_nodes") == 0 && strcmp(hints[1].value, "3") == 0);
  CHECK_EQ(upc_all_fcntl(f, 99, NULL), -1);
  CHECK_EQ(upc_all_fclose(f), 0);
}

int main(void) {
  if (MYTHREAD == 0) {
    const char *folder = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/upcio.%d", folder ? folder : "/tmp", (int)getpid());
    upc_memput(shared_name, name, sizeof name);
  }
  upc_barrier;
  upc_memget(name, shared_name, sizeof name);
  open_and_errors();
  individual();
  common();
  sizes();
  lists();
  asynchronous();
  settings();
  upc_file_t *f = reopen(UPC_RDWR | UPC_COMMON_FP | UPC_DELETE_ON_CLOSE);
  CHECK_EQ(upc_all_fclose(f), 0);
  CHECK(access(name, F_OK) != 0);
  upc_barrier;
  return 0;
}
