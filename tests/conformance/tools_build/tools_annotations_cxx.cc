// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1
// mode: PAR
// Annotations, atomics, locks and thread keys of the tools in C++.
#include <thread>
#include <vector>

#include "tools_family.h"
#include "tools_forms.h"

GASNETT_THREADKEY_DECLARE(cxx_slot);
GASNETT_THREADKEY_DEFINE(cxx_slot);

static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;
static gasnett_atomic64_t counter = gasnett_atomic64_init(0);

static void work(long *guarded, uintptr_t id) {
  gasnett_threadkey_set(cxx_slot, id);
  for (int i = 0; i < 1000; i++) {
    gasnett_mutex_lock(&mutex);
    ++*guarded;
    gasnett_mutex_unlock(&mutex);
    gasnett_rwlock_rdlock(&rwlock);
    gasnett_atomic64_increment(&counter, GASNETT_ATOMIC_REL);
    gasnett_rwlock_unlock(&rwlock);
  }
  CHECK_EQ(reinterpret_cast<uintptr_t>(gasnett_threadkey_get(cxx_slot)), id);
}

int main() {
  long guarded = 0;
  std::vector<std::thread> threads;
  forms_test();
  family_all();
  for (uintptr_t i = 1; i <= 4; i++) threads.emplace_back(work, &guarded, i);
  for (auto &thread : threads) thread.join();
  CHECK_EQ(guarded, 4000);
  CHECK_EQ(gasnett_atomic64_read(&counter, 0), 4000);
  GASNETT_TRACE_PRINTF("%d", 1);
  const int value = (GASNETT_TRACE_SETSOURCELINE(nullptr, 5), 2);
  CHECK_EQ(value, 2);
  return check_done();
}
