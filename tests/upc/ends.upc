/* SPDX-License-Identifier: BSD-3-Clause */
/* How programs end, and what mistakes at run time are reported: one case each. */
/* ranks: 3 */
/* expect: fail */
/* match: SIGSEGV|signal 11|null pointer to shared|values|without upc_notify|returned from main|THREADS is|ending|no thread holds|exited with code 7 */
/* cases: exit return global null mismatch wait free unlock */
#include <stdio.h>
#include <string.h>
#include <upc.h>

int main(int argc, char **argv) {
  const char *how = argv[1];
  shared int *none = NULL;
  if (MYTHREAD == 1) {
    if (!strcmp(how, "exit")) exit(0);
    if (!strcmp(how, "return")) return 0;
    if (!strcmp(how, "global")) upc_global_exit(7);
    if (!strcmp(how, "null")) *none = 3;
    if (!strcmp(how, "mismatch")) upc_barrier 7;
    if (!strcmp(how, "wait")) upc_wait;
    if (!strcmp(how, "free")) {
      shared int *p = upc_alloc(100);
      upc_free(p);
      upc_free(p);
    }
  }
  if (!strcmp(how, "unlock")) {
    upc_lock_t *lock = upc_all_lock_alloc();
    if (MYTHREAD == 1) {
      upc_lock(lock);
      upc_unlock(lock);
      upc_unlock(lock);
    }
  }
  upc_barrier 3;
  return argc != 2;
}
