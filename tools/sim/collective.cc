/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's schedules on a described machine, see collective.h.
 *
 * Owns: class Member, one rank of the job. Called by experiments.cc. Calls: SimGrid, plan.c. A
 * member runs its steps in order; messages that come meanwhile it takes when it next waits, and
 * that costs its processor time. Invariants: a message is a flow from node to node; a sender waits
 * for READY where the schedule says GATED; who offers its memory waits until all have read there.
 */
#include "collective.h"

#include "plan.h"
#include "transport.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;

constexpr double NOTICE_BYTES = 64;      /* of a message without data on the wire */
constexpr double CHUNK_BYTES = 32 << 10; /* default of TOMBOLO_TEST_COLL_CHUNK */
constexpr double BEGIN_S = 0.1;        /* ranks sleep until they begin: study/compare/sim_check.c */
constexpr double BEGIN_APART_S = 1e-9; /* who wakes after whom, at one time */

enum class Note { DATA, READY, OFFER, TAKEN };

struct Mail {
  Note kind;
  uint32_t round, from, tag; /* round: which of the collectives */
  uint64_t bytes;
};

struct Job {
  Network &network;
  const CollCase &c;
  struct sim_ask ask;
  CollResult result{};
  std::vector<s4u::Mailbox *> boxes;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Way>> ways; /* where there are windows */
  std::vector<Thread> threads;                                        /* of the ranks */
  s4u::BarrierPtr begin;    /* all ranks have done the uncounted part, */
  double from = 0, end = 0; /* when that was, and when the last rank has done all */
};

struct Schedule {
  struct tmb_sched sched {};
  ~Schedule() { tmb_sched_free(&sched); }
};

class Member {
public:
  Member(Job &job, uint32_t rank)
      : job_(job), rank_(rank), m_(job.network.machine()), windows_(m_.get("window_bytes") > 0) {}

  void operator()() {
    const char *algorithm, *why;
    job_.boxes[rank_]->set_receiver(s4u::Actor::self());
    const auto warm = static_cast<uint32_t>(job_.c.warm);
    for (round_ = 0; round_ < warm + job_.c.times; round_++) {
      Schedule schedule;
      struct sim_ask ask = job_.ask;
      if (warm && round_ == warm) {
        job_.begin->wait();
        begin();
      }
      ask.root = (round_ < warm ? round_ : round_ - warm) % ask.size;
      if (!sim_plan_make(&ask, rank_, &schedule.sched, &algorithm, &why))
        throw std::runtime_error(why); /* coll_run has asked before */
      run(schedule.sched);
    }
    job_.end = s4u::Engine::get_clock();
    job_.boxes[rank_]->set_receiver(nullptr);
  }

private:
  using Key = std::tuple<Note, uint32_t, uint32_t, uint32_t>;

  /* All ranks begin at one time. Where they share processors, a clock wakes them, and they take
   * their turns one after the other. Rank 0 is behind two thirds of them, as in the mean of 18 real
   * jobs of 16 to 64 ranks; the others are in order. */
  void begin() {
    const double since = s4u::Engine::get_clock();
    job_.from = since;
    if (!windows_ || !m_.count("shared_processors")) return;
    const uint32_t size = job_.ask.size, place = (rank_ + 2 * size / 3) % size;
    job_.from += BEGIN_S;
    s4u::this_actor::sleep_until(job_.from + place * BEGIN_APART_S);
    job_.network.serve(
        job_.threads[rank_], 0,
        {m_.get("host_s_per_sleep"), m_.get("wake_after_s"), false, m_.get("host_s_per_halt")});
  }

  void spend(double seconds) const {
    if (seconds > 0) job_.network.serve(job_.threads[rank_], seconds, {0, 0});
  }

  bool near(uint32_t peer) const { return job_.network.near(rank_, peer); }

  /* Starting a message of this node costs no more than handing it over. */
  double cost(const char *name, uint32_t peer) const {
    const double far = m_.get(name);
    return near(peer) ? std::min(far, m_.get("near_latency_s")) : far;
  }

  double copy(double bytes) const { return bytes / m_.get("copy_bytes_per_s"); }

  double send_cost(const struct tmb_step &s) const {
    const double bytes = static_cast<double>(s.bytes);
    switch (job_.c.means) {
    case Means::AM: return std::ceil(bytes / CHUNK_BYTES) * cost("am_send_s", s.peer) + copy(bytes);
    case Means::PUT: return cost("signal_overhead_s", s.peer) + bytes / m_.get("put_bytes_per_s");
    default:
      return cost("message_send_s", s.peer) +
             (bytes <= m_.get("eager_bytes_max") ? copy(bytes) : 0);
    }
  }

  double receive_cost(const Mail &mail) const {
    const double bytes = static_cast<double>(mail.bytes);
    if (mail.kind != Note::DATA) return cost("am_receive_s", mail.from);
    switch (job_.c.means) {
    case Means::AM:
      return std::ceil(bytes / CHUNK_BYTES) * cost("am_receive_s", mail.from) + copy(bytes);
    case Means::PUT: return 0;
    default:
      return cost("message_receive_s", mail.from) + m_.get("match_entry_s") +
             (bytes <= m_.get("eager_bytes_max") ? copy(bytes) : cost("rendezvous_s", mail.from));
    }
  }

  /* Messages to one rank leave in order: one is in flight when those before it have left. */
  void post(Note kind, const struct tmb_step &s, double wire_bytes) {
    s4u::Mailbox *const box = job_.boxes[s.peer];
    Mail *const mail = new Mail{kind, round_, rank_, s.tag, s.bytes};
    const double bytes = std::max(wire_bytes, NOTICE_BYTES), now = s4u::Engine::get_clock();
    if (windows_ && !near(s.peer)) return way_to(s.peer).post(box, mail, bytes);
    const double first = std::max(now, free_at_[s.peer]);
    const double from = first + 2 * m_.get("node_latency_s");
    free_at_[s.peer] = first + bytes / job_.network.rail_bytes_per_s();
    const auto leave = [box, mail, bytes]() {
      box->put_init(mail, static_cast<uint64_t>(bytes))->detach();
    };
    if (from <= now || near(s.peer)) return leave();
    start_actor("queue", s4u::this_actor::get_host(), [leave, from]() {
      s4u::this_actor::sleep_until(from);
      leave();
    });
  }

  /* Making one is a call of the simulator's, in which the rank at the other end may make it. */
  Way *make_way(uint32_t from, uint32_t to) {
    const auto found = job_.ways.find({from, to});
    if (found != job_.ways.end()) return found->second.get();
    auto way = std::make_unique<Way>(job_.network,
                                     Way::End{job_.network.node_of(from), job_.threads[from]},
                                     Way::End{job_.network.node_of(to), job_.threads[to]});
    return job_.ways.emplace(std::make_pair(from, to), std::move(way)).first->second.get();
  }

  Way &way_to(uint32_t peer) {
    Way *const there = make_way(rank_, peer), *const back = make_way(peer, rank_);
    there->set_back(back);
    back->set_back(there);
    return *there;
  }

  /* Take one message from the network. A rank that has waited for one from its own node is switched
   * to. If it has waited for long it sleeps and must be woken. */
  void pump() {
    const double since = s4u::Engine::get_clock();
    const std::unique_ptr<Mail> mail(job_.boxes[rank_]->get<Mail>());
    const bool local = near(mail->from), waited = s4u::Engine::get_clock() > since;
    const bool wakes = local || !windows_;
    const Wake wake{wakes ? m_.get("host_s_per_wake") : 0, m_.get("wake_after_s"), local,
                    wakes ? m_.get("host_s_per_halt") : 0};
    const double seconds =
        receive_cost(*mail) + (local && waited ? m_.get("host_s_per_near_message") : 0);
    job_.network.serve(job_.threads[rank_], seconds, wake);
    if (mail->kind == Note::DATA) job_.result.received += static_cast<double>(mail->bytes);
    stash_[{mail->kind, mail->round, mail->from, mail->tag}]++;
  }

  void await(Note kind, uint32_t from, uint32_t tag) {
    const Key key{kind, round_, from, tag};
    while (!stash_.count(key)) pump();
    if (--stash_[key] == 0) stash_.erase(key);
  }

  void send(const struct tmb_step &s) {
    const double bytes = static_cast<double>(s.bytes);
    job_.result.messages++;
    job_.result.sent += bytes;
    if (s.flags & TMB_STEP_PULL) {
      spend(cost("am_send_s", s.peer));
      post(Note::OFFER, s, NOTICE_BYTES);
      offered_.push_back({s.peer, s.tag});
      return;
    }
    if (s.flags & TMB_STEP_GATED) await(Note::READY, s.peer, s.tag);
    spend(send_cost(s));
    post(Note::DATA, s, bytes);
  }

  void receive(const struct tmb_step &s) {
    if (s.flags & TMB_STEP_PULL) {
      await(Note::OFFER, s.peer, s.tag);
      spend(static_cast<double>(s.bytes) / m_.get("near_bytes_per_s"));
      job_.result.received += static_cast<double>(s.bytes);
      spend(cost("am_send_s", s.peer));
      post(Note::TAKEN, s, NOTICE_BYTES);
    } else {
      await(Note::DATA, s.peer, s.tag);
    }
    if (s.kind == TMB_STEP_RECV_REDUCE) spend(copy(static_cast<double>(s.bytes)));
  }

  void run(const struct tmb_sched &sched) {
    for (uint32_t i = 0; i < sched.count; i++) {
      const struct tmb_step &s = sched.step[i];
      job_.result.steps++;
      switch (s.kind) {
      case TMB_STEP_READY:
        spend(cost("am_send_s", s.peer));
        post(Note::READY, s, NOTICE_BYTES);
        break;
      case TMB_STEP_COPY:
      case TMB_STEP_REDUCE: spend(copy(static_cast<double>(s.bytes))); break;
      case TMB_STEP_SEND: send(s); break;
      default: receive(s);
      }
    }
    for (const auto &o : offered_) await(Note::TAKEN, o.first, o.second);
    offered_.clear();
  }

  Job &job_;
  uint32_t rank_, round_ = 0;
  const Machine &m_;
  std::map<Key, unsigned> stash_;
  bool windows_;
  std::unordered_map<uint32_t, double> free_at_; /* by peer: when the posted messages have left */
  std::vector<std::pair<uint32_t, uint32_t>> offered_;
};

/* The schedule of rank 0, to find out whether the question has an answer. */
std::string check(const struct sim_ask &ask) {
  Schedule schedule;
  const char *algorithm, *why;
  if (!sim_plan_make(&ask, 0, &schedule.sched, &algorithm, &why))
    throw Error(std::string("--kind ") + ask.kind + " --algorithm " + ask.algorithm + ": " + why);
  return algorithm;
}

} // namespace

Means coll_means(const std::string &name) {
  static const std::pair<const char *, Means> names[] = {
      {"am", Means::AM}, {"put", Means::PUT}, {"message", Means::MESSAGE}};
  return name.empty() ? Means::AM : choose("--way", name, names);
}

CollResult coll_run(Network &network, const CollCase &c) {
  const auto size = static_cast<uint32_t>(network.ranks());
  const auto per_node = static_cast<uint32_t>(network.machine().count("cores_per_node"));
  const double eager = c.means == Means::MESSAGE ? network.machine().get("eager_bytes_max") : 65536;
  const std::unique_ptr<struct tmb_coll_nodes, decltype(&std::free)> nodes(
      c.two_levels && size > 2 && size > per_node && per_node > 1 ? sim_plan_nodes(size, per_node)
                                                                  : nullptr,
      &std::free);
  Job job{network,
          c,
          {c.kind.c_str(), c.algorithm.c_str(), size, per_node, 0, c.bytes,
           static_cast<uint64_t>(eager), nodes.get()},
          {},
          {},
          {},
          std::vector<Thread>(size),
          s4u::Barrier::create(size)};
  job.result.algorithm = check(job.ask);
  const uint64_t processors = std::max<uint64_t>(network.machine().count("shared_processors"), 1);
  for (uint32_t rank = 0; rank < size; rank++) job.threads[rank].home = rank % processors;
  for (uint32_t rank = 0; rank < size; rank++)
    job.boxes.push_back(s4u::Mailbox::by_name("rank" + std::to_string(rank)));
  for (uint32_t rank = 0; rank < size; rank++)
    start_actor("rank" + std::to_string(rank), network.host_of(rank), Member(job, rank));
  s4u::Engine::get_instance()->run();
  for (const Thread &thread : job.threads) {
    job.result.sleeps += static_cast<double>(thread.sleeps);
    job.result.work_s += thread.work_s;
  }
  job.result.line_sleeps = static_cast<double>(network.line_thread().sleeps);
  job.result.line_work_s = network.line_thread().work_s;
  job.result.packets = network.frames().packets;
  job.result.answers = network.frames().answers;
  job.result.seconds = (job.end - job.from) / static_cast<double>(c.times);
  return job.result;
}

} // namespace sim
