/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program without a bug, compiled with `--check`: threads of a rank meet by atomic operations of
 * C++, which shared pointers are made of, too. Some of the words lie elsewhere in each run, as they
 * may in the heap. Each rank prints its order.
 */
#include <gasnetex.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <vector>

static std::atomic<uint64_t> order{0};
static std::atomic<int> ready{0};
static std::atomic<int> come{0};

static void mix(uint64_t x) {
  uint64_t is = order.load(std::memory_order_relaxed);
  while (!order.compare_exchange_weak(is, (is ^ x) * UINT64_C(1099511628211))) continue;
}

class Spin {
public:
  void lock() {
    while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { held_.clear(std::memory_order_release); }

private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

static std::mutex mutex;
static std::condition_variable filled;
static std::deque<std::shared_ptr<int>> queue;
static Spin spin;

/* Each word has a page, and is anywhere in it. */
enum { WORDS = 64, PAGE = 4096 };
alignas(PAGE) static char pages[WORDS][PAGE];
static std::atomic<uint64_t> *words[WORDS];
static void place() {
  std::random_device random;
  for (int i = 0; i < WORDS; i++)
    words[i] = new (&pages[i][random() % (PAGE / 8) * 8]) std::atomic<uint64_t>(0);
}

static void gives(int i) {
  const auto item = std::make_shared<int>(i);
  const std::lock_guard<std::mutex> guard(mutex);
  queue.push_back(item);
  filled.notify_one();
}

static void takes() {
  std::unique_lock<std::mutex> guard(mutex);
  filled.wait(guard, [] { return !queue.empty(); });
  const std::shared_ptr<int> item = queue.front();
  queue.pop_front();
  guard.unlock();
  mix(static_cast<uint64_t>(1000 + *item));
}

static void works(int who, gex_TM_t tm, gex_Rank_t next) {
  ready.fetch_add(1);
  while (ready.load() < 3) std::this_thread::yield();
  for (int i = 0; i < 100; i++) {
    if (who == 0 && i < 20) gex_AM_RequestShort1(tm, next, 240, 0, i);
    if (who == 1) gives(i);
    if (who == 2) takes();
    mix(words[(7 * i + who) % WORDS]->fetch_add(static_cast<uint64_t>(who) + 1));
    const std::lock_guard<Spin> guard(spin);
    mix(static_cast<uint64_t>(who));
  }
}

static void on_item(gex_Token_t, gex_AM_Arg_t) {
  come.fetch_add(1);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_AM_Entry_t entry = {240,
                          reinterpret_cast<gex_AM_Fn_t>(on_item),
                          GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                          1,
                          nullptr,
                          nullptr};
  place();
  gex_Client_Init(&client, &ep, &tm, "atomics", &argc, &argv, 0);
  gex_EP_RegisterHandlers(ep, &entry, 1);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  const gex_Rank_t me = gex_TM_QueryRank(tm), next = (me + 1) % gex_TM_QuerySize(tm);
  std::vector<std::thread> threads;
  for (int who = 0; who < 3; who++) threads.emplace_back(works, who, tm, next);
  while (come.load() < 20) gasnet_AMPoll();
  for (std::thread &thread : threads) thread.join();
  std::printf("rank %u: order %llx\n", me, static_cast<unsigned long long>(order.load()));
  std::fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
}
