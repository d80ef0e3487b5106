/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/job.hpp: the process joins the job, and leaves it.
 *
 * Called by main of a client. Calls initialisation, attach and exit of the C API. Invariants: one
 * job a process; handlers are registered before attach, which is a barrier, so that no call finds
 * a rank without them.
 */
#ifndef TOMBOLO_CXX_JOB_HPP
#define TOMBOLO_CXX_JOB_HPP

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "allocate.hpp"
#include "atomic.hpp"
#include "completions.hpp"
#include "containers.hpp"
#include "device.hpp"
#include "dist_object.hpp"
#include "inside/objects.hpp"
#include "inside/trace.hpp"
#include "memory.hpp"
#include "pieces.hpp"
#include "promise.hpp"
#include "team.hpp"

namespace tombolo {

/* Membership of this process in the job, from its constructor to its destructor; one a process. */
class job {
public:
  /* Starts or joins the job and attaches heap_bytes on each rank (0: all that is permitted, which
   * costs nothing until it is used). Collective. Throws error. */
  job(int &argc, char **&argv, size_t heap_bytes = 0) : thrown_(std::uncaught_exceptions()) {
    gex_Client_t client;
    gex_EP_t ep;
    gex_Segment_t segment;
    auto &self = detail::self;
    if (self.world != GEX_TM_INVALID) throw error("job: this process has one; use that");
    if (gex_Client_Init(&client, &ep, &self.world, "TOMBOLO_CXX", &argc, &argv, 0) != GASNET_OK)
      throw error("job: no job; the reason is printed above");
    world_ = team(self.world);
    enter_handlers(ep);
    const size_t most = gasnet_getMaxGlobalSegmentSize(), page = GASNET_PAGESIZE;
    const size_t bytes = heap_bytes ? (heap_bytes + page - 1) / page * page : most;
    if (bytes > most || bytes < heap_bytes)
      throw error("job: heap_bytes " + std::to_string(heap_bytes) + " is above the limit " +
                  std::to_string(most) + "; raise GASNET_MAX_SEGSIZE");
    if (gex_Segment_Attach(&segment, self.world, bytes) != GASNET_OK)
      throw error("job: no segment of " + std::to_string(bytes) + " bytes; lower heap_bytes");
    self.mine = static_cast<char *>(gex_Segment_QueryAddr(segment));
    self.base = new char *[size()];
    detail::await_event(
        gexx_Coll_AllGatherNB(self.world, self.base, &self.mine, sizeof self.mine, 0));
    find_near();
    self.memory.open(bytes);
    std::set_terminate(detail::on_terminate);
  }
  job(const job &) = delete;
  job &operator=(const job &) = delete;

  /* Waits for all ranks, so that nobody is called after it has left. Left by an exception, it ends
   * the job with exit code 1. */
  ~job() {
    if (std::uncaught_exceptions() > thrown_) abort("an exception has left the job's scope");
    detail::worker::mine().drain();
    finish_calls();
    world_.barrier();
    detail::self.ended = true;
  }

  const team &world() const { return world_; }
  rank_t rank() const { return world_.rank(); }
  rank_t size() const { return world_.size(); }
  void barrier() const { world_.barrier(); }
  size_t heap_bytes() const { return detail::self.memory.bytes(); }
  /* Collective: n zeroed elements on each rank. */
  template <class T> symmetric<T> allocate(size_t n) const { return symmetric<T>(n); }

  /* Prints rank and reason, and ends the whole job. */
  [[noreturn]] static void abort(const char *why, int code = 1) {
    detail::print_line("", why);
    gasnet_exit(code);
  }

private:
  /* Runs what messages bring, until none is left on any rank. */
  void finish_calls() {
    uint64_t before = 0, all[2] = {1, 0};
    while (all[0] != all[1] || all[0] != before) {
      before = all[0];
      detail::worker::mine().drain();
      all[0] = detail::rpcs.sent.load();
      all[1] = detail::rpcs.ran.load();
      world_.all_reduce(all, 2);
    }
  }

  static void find_near() {
    auto &self = detail::self;
    gex_RankInfo_t *info;
    gex_Rank_t count;
    gex_System_QueryNbrhdInfo(&info, &count, nullptr);
    self.near = new char *[tombolo::size()]();
    for (gex_Rank_t i = 0; i < count; i++) {
      void *here = nullptr;
      gex_Segment_QueryBound(self.world, info[i].gex_jobrank, nullptr, &here, nullptr);
      self.near[info[i].gex_jobrank] = static_cast<char *>(here);
    }
    self.near[tombolo::rank()] = self.mine;
  }

  static void enter_handlers(gex_EP_t ep) {
    auto &self = detail::self;
    gex_AM_Entry_t table[] = {
        {0, reinterpret_cast<gex_AM_Fn_t>(&detail::on_call),
         GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2, nullptr, "tombolo::call"},
        {0, reinterpret_cast<gex_AM_Fn_t>(&detail::on_answer),
         GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 3, nullptr, "tombolo::answer"},
        {0, reinterpret_cast<gex_AM_Fn_t>(&detail::on_rpc),
         GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 9, nullptr, "tombolo::rpc"},
    };
    if (gex_EP_RegisterHandlers(ep, table, 3) != GASNET_OK) throw error("job: no free handlers");
    self.call = table[0].gex_index;
    self.answer = table[1].gex_index;
    detail::rpcs.handler = table[2].gex_index;
  }

  team world_;
  int thrown_;
};

/* A whole program: makes the job, runs f(job), and returns what main returns: f's int, or 0. An
 * exception that leaves f ends the whole job with exit code 1. Nothing catches it, so that rank,
 * what() and the functions and lines that led to it can be printed. */
template <class F> int run(int argc, char **argv, F f, size_t heap_bytes = 0) {
  std::optional<job> j;
  try {
    j.emplace(argc, argv, heap_bytes);
  } catch (const error &e) {
    std::fprintf(stderr, "tombolo: %s\n", e.what());
    return 1;
  }
  if constexpr (std::is_void_v<std::invoke_result_t<F &, job &>>) {
    f(*j);
    return 0;
  } else {
    return f(*j);
  }
}

} // namespace tombolo

#endif
