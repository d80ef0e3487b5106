/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/executor.hpp: the queue of functions that a thread runs, and progress.
 *
 * Called by future.hpp, by clients, and by all waits of tombolo.hpp. Calls gasnet_AMPoll and the
 * wait functions of the C API. Each thread has a worker: operations that it watches, and functions
 * that are ready. An executor is a handle of a worker for other threads, which post to its mailbox.
 * Invariants: a function runs in the thread whose queue it is in, in progress() or a wait, never in
 * a message handler; only a thread itself touches its worker, others only its mailbox under the
 * lock; a thread that sleeps is woken after each post to it.
 */
#ifndef TOMBOLO_CXX_EXECUTOR_HPP
#define TOMBOLO_CXX_EXECUTOR_HPP

#include <atomic>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base.hpp"

namespace tombolo {

namespace detail {

class core_base;
using core_ref = std::shared_ptr<core_base>;

/* A function that runs once, given the operation that it waited for, or null. */
struct task {
  task() = default;
  task(const task &) = delete;
  task &operator=(const task &) = delete;
  virtual ~task() = default;
  virtual void run(const core_ref &from) = 0;
  /* In place of run(), in another thread: the thread that would run it has ended. */
  virtual void abandon() {}
};

inline std::exception_ptr thread_ended() {
  return std::make_exception_ptr(error("executor: the thread that would run this function has "
                                       "ended; end it after its futures, or use another"));
}

struct ready_task {
  std::shared_ptr<task> what;
  core_ref from;
};

using task_queue = fifo<ready_task>;

/* Threads that wait now; after a change that one of them may wait for, wake_others() is called. */
inline std::atomic<int> waiting{0};
inline thread_local int waits_here = 0;
struct wait_mark {
  wait_mark() {
    waits_here++;
    waiting.fetch_add(1, std::memory_order_seq_cst);
  }
  wait_mark(const wait_mark &) = delete;
  wait_mark &operator=(const wait_mark &) = delete;
  ~wait_mark() {
    waiting.fetch_sub(1, std::memory_order_relaxed);
    waits_here--;
  }
};
inline void wake_others() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (waiting.load(std::memory_order_relaxed) > waits_here)
    gexx_signal_wake(self.world, gex_System_QueryJobRank());
}

/* Tasks that other threads, and message handlers, give to a thread. */
class mailbox {
public:
  /* False: the thread has ended, and t is as it was. */
  bool post(ready_task &t) {
    {
      const held guard(lock_);
      if (closed_) return false;
      tasks_.push(std::move(t));
      any_.store(true, std::memory_order_relaxed);
    }
    wake_others();
    return true;
  }
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void take(task_queue &to) {
    const held guard(lock_);
    to.take(tasks_);
    any_.store(false, std::memory_order_relaxed);
  }
  /* Refuses tasks from now on, unless there are some. */
  bool close() {
    const held guard(lock_);
    closed_ = tasks_.empty();
    return closed_;
  }

private:
  hsl lock_;
  task_queue tasks_;
  std::atomic<bool> any_{false};
  bool closed_ = false;
};

/* Tasks that messages have brought; the first thread that runs its own tasks takes them. */
class inbox {
public:
  void post(std::shared_ptr<task> t) {
    {
      const held guard(lock_);
      tasks_.push({std::move(t), nullptr});
      any_.store(true, std::memory_order_relaxed);
    }
    wake_others();
  }
  bool any() const { return any_.load(std::memory_order_relaxed); }
  std::shared_ptr<task> take() {
    const held guard(lock_);
    if (tasks_.empty()) return nullptr;
    auto first = tasks_.pop().what;
    any_.store(!tasks_.empty(), std::memory_order_relaxed);
    return first;
  }

private:
  hsl lock_;
  task_queue tasks_;
  std::atomic<bool> any_{false};
};
inline inbox incoming;

/* An operation in progress, or a result. */
class core_base : public std::enable_shared_from_this<core_base> {
public:
  core_base() = default;
  core_base(const core_base &) = delete;
  core_base &operator=(const core_base &) = delete;
  virtual ~core_base() = default;

  bool done() const { return done_.load(std::memory_order_acquire); }
  /* Looks whether the operation has ended; returns done(). Never blocks, never polls. */
  virtual bool poll() { return done(); }
  /* Whether it ends only when somebody calls poll(). */
  virtual bool pollable() const { return false; }
  /* Blocks until it is done or `until` is not 0. Returns false at once where the C API cannot wait
   * for it. */
  virtual bool block(int (*until)(void *)) {
    (void)until;
    return false;
  }

  /* The result is written: hands the tasks that wait for it to their threads. Once. */
  void complete();
  /* Has t posted to `home` when done. Returns false, and does nothing, if it is done. */
  bool attach(std::shared_ptr<task> t, std::shared_ptr<mailbox> home);

private:
  struct entry {
    std::shared_ptr<task> what;
    std::shared_ptr<mailbox> home;
  };
  std::atomic<bool> done_{false};
  hsl lock_;
  fifo<entry> waiting_; /* under lock */
};

/* The part of a thread that runs its tasks. */
class worker {
public:
  worker() : mail_(std::make_shared<mailbox>()) {}
  worker(const worker &) = delete;
  worker &operator=(const worker &) = delete;
  /* A thread that ends runs first what waits for its operations. */
  ~worker() {
    do drain();
    while (!self.ended && !mail_->close());
  }

  static worker &mine() {
    static thread_local worker w;
    return w;
  }
  const std::shared_ptr<mailbox> &mail() const { return mail_; }
  /* Has poll() of an operation called until it is done. */
  void watch(core_ref c) { watched_.push_back(std::move(c)); }
  /* A task that is ready in this thread. */
  void push(ready_task t) { ready_.push(std::move(t)); }

  /* Whether operations have to be looked at that nobody announces. */
  bool watches() const { return !watched_.empty(); }
  /* Whether there are tasks; each post of one wakes this thread. */
  bool has_tasks() const { return !ready_.empty() || mail_->any() || incoming.any(); }
  /* Whether run() has nothing to do. */
  bool idle() const { return !watches() && !has_tasks(); }

  /* Polls what is watched and runs what is ready. A task may call it again. */
  void run() {
    if (idle()) return;
    look();
    if (mail_->any()) mail_->take(ready_);
    do {
      run_ready();
      if (const auto t = incoming.any() ? incoming.take() : nullptr) t->run(nullptr);
    } while (!ready_.empty() || incoming.any());
  }

  void drain() {
    while (!self.ended && !idle()) {
      gasnet_AMPoll();
      run();
    }
  }

private:
  void run_ready() {
    while (!ready_.empty()) {
      const ready_task t = ready_.pop();
      t.what->run(t.from);
    }
  }
  void look() {
    depth_++;
    for (size_t i = 0; i < watched_.size(); i++) {
      const core_ref c = watched_[i]; /* poll() may add others */
      if (c && c->poll()) watched_[i] = nullptr;
    }
    if (--depth_) return; /* the outer call counts by index */
    size_t kept = 0;
    for (core_ref &c : watched_)
      if (c) watched_[kept++].swap(c);
    watched_.resize(kept);
  }

  std::shared_ptr<mailbox> mail_;
  std::vector<core_ref> watched_;
  task_queue ready_;
  int depth_ = 0;
};

inline void core_base::complete() {
  fifo<entry> all;
  {
    const held guard(lock_);
    all.take(waiting_);
    done_.store(true, std::memory_order_release);
  }
  /* A task may complete others: they queue up here, no recursion. */
  if (all.empty()) return wake_others();
  while (!all.empty()) {
    entry e = all.pop();
    ready_task t{std::move(e.what), shared_from_this()};
    worker &here = worker::mine();
    if (e.home == here.mail())
      here.push(std::move(t));
    else if (!e.home->post(t))
      t.what->abandon();
  }
}

inline bool core_base::attach(std::shared_ptr<task> t, std::shared_ptr<mailbox> home) {
  {
    const held guard(lock_);
    if (done_.load(std::memory_order_relaxed)) return false;
    waiting_.push({std::move(t), std::move(home)});
  }
  if (pollable()) worker::mine().watch(shared_from_this());
  return true;
}

inline int has_tasks(void *) {
  return worker::mine().has_tasks();
}

/* The wait for an end that nobody announces, or while this thread watches other operations. */
inline void await_looking(core_base &c) {
  struct gexx_wait step;
  gexx_wait_begin(&step);
  while (worker::mine().run(), !c.poll()) gexx_wait_step(&step);
}

/* Waits until c is done. Blocks as the C API does: a thread that wakes now and then to look takes
 * the processor from those for which it waits. */
inline void await(core_base &c) {
  if (c.poll()) return;
  const wait_mark here;
  worker &mine = worker::mine();
  do mine.run();
  while (!mine.watches() && c.block(has_tasks) && !c.done());
  if (!c.done()) await_looking(c);
  mine.run(); /* what c made ready: the caller may block now */
}

/* Waits until done(), which a wait of the C API could wait for as well; runs this thread's tasks,
 * and those that messages bring. */
template <class Done> void await_busy(Done done) {
  if (done()) return;
  struct gexx_wait step;
  gexx_wait_begin(&step);
  const wait_mark here;
  while (!done()) {
    worker::mine().run();
    gexx_wait_step(&step);
  }
}

/* Waits for an event; runs tasks as await() does. */
inline void await_event(gex_Event_t event) {
  if (gex_Event_Test(event) == GASNET_OK) return;
  const wait_mark here;
  worker &mine = worker::mine();
  do {
    mine.run();
    if (mine.watches()) return await_busy([event] { return gex_Event_Test(event) == GASNET_OK; });
  } while (gexx_Event_WaitUntil(event, has_tasks, nullptr, UINT64_MAX) != GASNET_OK);
}

template <class F> struct posted : task {
  F f;
  explicit posted(F &&fn) : f(std::move(fn)) {}
  void run(const core_ref &) override { f(); }
};

} // namespace detail

/* Runs handlers of messages that have arrived, and the functions of this thread that are ready:
 * continuations of its futures, and those that other threads have posted to it. */
inline void progress() {
  gasnet_AMPoll();
  detail::worker::mine().run();
}

} // namespace tombolo

#endif
