/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that share few processors, see crowd.h.
 *
 * Owns: class Crowd. Called by halo.cc and wave.cc. Calls: way.h. A rank has a turn on a processor:
 * it takes arrived mail, sends the acknowledgements that are due, and goes on until it has to wait.
 * Each piece of work is an event, so that mail that comes meanwhile is seen. Invariants: events
 * happen in the order of their times, equal ones in the order in which they were made.
 */
#include "sim/apps/crowd.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <queue>

namespace sim {
namespace {

constexpr double PACKET_BYTES = 1400;
constexpr double FLAG_BYTES = 8, TELL_BYTES = 64;
constexpr double ASKS = 4;           /* UDP_ASKS: for an acknowledgement, a window */
constexpr double LOOK_S = 20e-6;     /* BUSY_NS_MIN of src/core/progress/wait.c */
constexpr unsigned LOOK_DOUBLED = 6; /* BUSY_DOUBLED */

/* Mail for a rank: a packet from another host, or a message of its own one. */
struct Mail {
  uint64_t from;
  std::vector<size_t> slots; /* whose notices it has */
  uint64_t number = 0;       /* of a packet; 0: an acknowledgement alone, or of this host */
  uint64_t acks = 0;         /* the last number that its sender has */
  double bytes = 0;
  uint64_t messages = 0;           /* that end with it */
  bool asks = false, near = false; /* it wants an acknowledgement; it is of this host */
};

/* State of a rank for another one of another host. */
struct Link {
  uint64_t sent = 0, acked = 0, came = 0; /* numbers of packets */
  double due = INFINITY;                  /* when it acknowledges received packets */
  double unasked = 0;                     /* bytes since it asked for an acknowledgement */
  Mail open{};                            /* mail that waits for others to share its packet */
};

enum class State { ASLEEP, READY, RUNS, SPINS };

struct Rank {
  State state = State::READY;
  size_t at = 0;        /* its act */
  uint64_t waits = 0;   /* number of the packet whose acknowledgement it waits for; 0: none */
  bool ended = false;   /* it has done all */
  bool entered = false; /* it is in a barrier, */
  bool met = false;     /* the barrier is done */
  double from = 0;      /* when it started */
  double wake_s = 0;    /* time to switch to it */
  double idle_s = 0;    /* and to begin on a processor that has nothing to do */
  unsigned looked = 0;  /* in vain, since something came */
  uint64_t nap = 0;     /* its sleeps and spins: timers of earlier ones are void */
  std::deque<Mail> inbox;
  std::vector<uint64_t> came, taken; /* notices by slot */
  std::map<uint64_t, Link> links;    /* by peer */
};

class Crowd {
public:
  Crowd(const Network &network, const std::vector<Acts> &acts, size_t slots)
      : network_(network), m_(network.machine()), acts_(acts), barrier_(network),
        ways_(network, Notice::SIGNAL, true), ranks_(acts.size()), at_(acts.size()),
        line_free_(network.nodes()), idle_(m_.count("shared_processors")) {
    for (Rank &r : ranks_) {
      r.came.resize(slots);
      r.taken.resize(slots);
    }
  }

  CrowdResult run() {
    for (uint64_t i = 0; i < ranks_.size(); i++) ready_.push_back(i);
    dispatch();
    while (!events_.empty() && ended_ < ranks_.size()) {
      const Event e = events_.top();
      events_.pop();
      now_ = e.at;
      e.what();
    }
    return result_;
  }

private:
  struct Event {
    double at;
    uint64_t order;
    std::function<void()> what;
    bool operator<(const Event &other) const {
      return at > other.at || (at == other.at && order > other.order);
    }
  };

  void after(double seconds, std::function<void()> what) {
    events_.push({now_ + seconds, made_++, std::move(what)});
  }

  /* A rank works; the thread that serves the lines has taken its processor for a part of that. */
  void work(double seconds, std::function<void()> then) {
    result_.work += seconds;
    seconds += stolen_;
    stolen_ = 0;
    after(seconds, std::move(then));
  }

  double half(const char *name) const { return m_.get(name) / 2; }

  /* ---- processors of ranks */

  void dispatch() {
    while (!ready_.empty() && (idle_ || !spinning_.empty())) {
      const uint64_t i = ready_.back();
      Rank &r = ranks_[i];
      ready_.pop_back();
      double wait = 0;
      if (idle_) {
        idle_--;
        wait = r.idle_s;
      } else {
        const uint64_t other = spinning_.front();
        spinning_.pop_front();
        doze(other);
      }
      r.state = State::RUNS;
      result_.work -= wait;
      work(r.wake_s + wait, [this, i]() { step(i); });
    }
  }

  /* in wake_s: time to switch to a rank, if it sleeps. */
  void rouse(uint64_t i, double wake_s, double idle_s) {
    Rank &r = ranks_[i];
    if (r.state == State::SPINS) {
      spinning_.erase(std::find(spinning_.begin(), spinning_.end(), i));
      r.state = State::RUNS;
      r.nap++;
      return work(0, [this, i]() { step(i); });
    }
    if (r.state != State::ASLEEP) return;
    result_.sleeps++;
    r.state = State::READY;
    r.wake_s = wake_s;
    r.idle_s = idle_s;
    r.nap++;
    ready_.push_back(i);
    dispatch();
  }

  double sleep_s() const { return m_.get("host_s_per_sleep"); }

  bool looks(uint64_t i) const {
    return ranks_[i].at < acts_[i].size() && acts_[i][ranks_[i].at].what == Do::LOOK;
  }

  /* A rank has nothing to do: open packets leave; it spins, if nobody wants its processor, and then
   * sleeps. */
  void rest(uint64_t i) {
    Rank &r = ranks_[i];
    for (const auto &link : r.links)
      if (link.second.open.messages) return leave(i, link.first);
    const double spin = looks(i) && r.looked ? 0 : m_.get("wake_after_s");
    if (spin <= 0 || !ready_.empty()) {
      idle_++;
      doze(i);
      return dispatch();
    }
    r.state = State::SPINS;
    spinning_.push_back(i);
    after(spin, [this, i, nap = ++r.nap]() {
      if (ranks_[i].nap != nap) return;
      spinning_.erase(std::find(spinning_.begin(), spinning_.end(), i));
      idle_++;
      doze(i);
      dispatch();
    });
  }

  /* The first two polls are equally far apart: wait.c asks for the time before it counts. */
  static double look_s(unsigned looked) {
    return LOOK_S * (1u << std::min(looked ? looked - 1 : 0, LOOK_DOUBLED));
  }

  /* The rank sleeps until mail comes, it owes an acknowledgement, or it polls again. */
  void doze(uint64_t i) {
    Rank &r = ranks_[i];
    r.state = State::ASLEEP;
    const uint64_t nap = ++r.nap;
    double due = INFINITY;
    for (const auto &link : r.links) due = std::min(due, link.second.due);
    if (due < INFINITY)
      after(std::max(due - now_, 0.0), [this, i, nap]() {
        if (ranks_[i].nap == nap) rouse(i, sleep_s(), 0);
      });
    if (!looks(i)) return;
    after(look_s(r.looked), [this, i, nap]() {
      if (ranks_[i].nap != nap) return;
      ranks_[i].looked++;
      result_.looks++;
      rouse(i, sleep_s(), 0);
    });
  }

  /* ---- actions of a rank while it has a processor */

  void step(uint64_t i) {
    Rank &r = ranks_[i];
    if (!r.inbox.empty()) {
      const Mail mail = r.inbox.front();
      r.inbox.pop_front();
      return work(taking(mail), [this, i, mail]() {
        take(i, mail);
        step(i);
      });
    }
    for (auto &link : r.links)
      if (link.second.due <= now_) return acknowledge(i, link.first);
    if (r.at == acts_[i].size()) return rest(i);
    go_on(i, acts_[i][r.at]);
  }

  /* A message of this host has cost a switch to its receiver, if that was necessary. */
  double taking(const Mail &mail) const {
    if (mail.near) return 0;
    return half("host_s_per_frame") + mail.bytes * half("host_s_per_byte") +
           static_cast<double>(mail.messages) * half("host_s_per_message");
  }

  void take(uint64_t i, const Mail &mail) {
    Rank &r = ranks_[i];
    r.looked = 0;
    for (const size_t slot : mail.slots) r.came[slot]++;
    if (mail.near) return;
    Link &link = r.links[mail.from];
    link.acked = std::max(link.acked, mail.acks);
    if (!mail.number) return;
    link.came = mail.number;
    link.due = std::min(link.due, now_ + (mail.asks ? 0 : m_.get("ack_delay_s")));
  }

  void acknowledge(uint64_t i, uint64_t peer) {
    ranks_[i].links[peer].due = INFINITY;
    work(half("host_s_per_frame"), [this, i, peer]() {
      Mail mail{i, {}};
      launch(peer, mail);
      step(i);
    });
  }

  void done(uint64_t i) {
    ranks_[i].at++;
    finish(i);
  }

  void finish(uint64_t i) {
    Rank &r = ranks_[i];
    if (r.at == acts_[i].size() && !r.ended) {
      r.ended = true;
      result_.seconds = std::max(result_.seconds, now_ - r.from);
      ended_++;
    }
    step(i);
  }

  void go_on(uint64_t i, const Act &act) {
    Rank &r = ranks_[i];
    switch (act.what) {
    case Do::COMPUTE: return work(act.amount, [this, i]() { done(i); });
    case Do::LOOK:
    case Do::WAIT:
      if (r.came[act.slot] == r.taken[act.slot]) return rest(i);
      r.taken[act.slot]++;
      r.looked = 0;
      return done(i);
    case Do::MEET: return meet(i);
    case Do::START: return start(i);
    default: break;
    }
    if (network_.near(i, act.peer)) return send_near(i, act);
    if (!r.waits) return send_far(i, act);
    if (r.links[act.peer].acked < r.waits) return rest(i);
    r.waits = 0;
    done(i);
  }

  void start(uint64_t i) {
    ranks_[i].from = now_;
    done(i);
  }

  /* A plain store, and where it rings, a message. */
  void send_near(uint64_t i, const Act &act) {
    work(act.amount / m_.get("near_bytes_per_s"), [this, i, act]() {
      Rank &peer = ranks_[act.peer];
      if (act.what == Do::FLAG) peer.came[act.slot]++;
      if (act.what == Do::FLAG && peer.state == State::SPINS) rouse(act.peer, 0, 0);
      if (act.what == Do::TELL || act.what == Do::SIGNAL) {
        Mail mail{i, {act.slot}};
        mail.near = true;
        peer.inbox.push_back(mail);
        const double switch_s = m_.get("host_s_per_near_message"), wake = m_.get("host_s_per_wake");
        rouse(act.peer, switch_s + wake, std::max(m_.get("near_latency_s") - switch_s - wake, 0.0));
      }
      done(i);
    });
  }

  static double bytes_of(const Act &act) {
    return act.what == Do::FLAG ? FLAG_BYTES : act.what == Do::TELL ? TELL_BYTES : act.amount;
  }

  /* Into the open packet of its peer, which leaves at once if nothing is in flight to it. */
  void send_far(uint64_t i, const Act &act) {
    const double bytes = bytes_of(act);
    Link &link = ranks_[i].links[act.peer];
    if (link.open.messages && link.open.bytes + bytes > PACKET_BYTES) return leave(i, act.peer);
    work(half("host_s_per_message") + bytes * half("host_s_per_byte"), [this, i, act, bytes]() {
      Rank &r = ranks_[i];
      Link &to = r.links[act.peer];
      const bool blocks = act.what == Do::PUT || act.what == Do::FLAG;
      to.open.from = i;
      to.open.bytes += bytes;
      to.open.messages++;
      to.open.asks |= blocks;
      if (act.what != Do::PUT) to.open.slots.push_back(act.slot);
      if (blocks)
        r.waits = to.sent + (bytes > PACKET_BYTES ? 2 : 1);
      else
        r.at++;
      if (to.acked == to.sent || bytes > PACKET_BYTES) return leave(i, act.peer);
      finish(i);
    });
  }

  /* The open packet to a peer leaves; a long message as its first packet and the rest. */
  void leave(uint64_t i, uint64_t peer) {
    work(half("host_s_per_frame"), [this, i, peer]() {
      Link &link = ranks_[i].links[peer];
      Mail mail = std::move(link.open);
      link.open = Mail{};
      link.unasked += mail.bytes;
      mail.asks |= link.unasked >= m_.get("window_bytes") / ASKS;
      if (mail.asks) link.unasked = 0;
      if (mail.bytes > PACKET_BYTES) {
        Mail first{i, {}};
        first.number = ++link.sent;
        first.bytes = mail.bytes - PACKET_BYTES;
        mail.bytes = PACKET_BYTES;
        launch(peer, first);
      }
      mail.number = ++link.sent;
      launch(peer, mail);
      finish(i);
    });
  }

  /* ---- between hosts */

  /* The thread that serves the lines has work for a frame. Returns when it is done. */
  double serve_line() {
    const double seconds =
        half("line_s_per_frame") + (line_until_ < now_ ? m_.get("line_s_per_sleep") : 0);
    line_until_ = std::max(line_until_, now_) + seconds;
    stolen_ += seconds;
    result_.line += seconds;
    return line_until_ - now_;
  }

  /* A packet takes along the acknowledgement that its sender owes. */
  void launch(uint64_t to, Mail mail) {
    const uint64_t from = mail.from;
    Link &link = ranks_[from].links[to];
    link.due = INFINITY;
    mail.acks = link.came;
    result_.frames++;
    double &free = line_free_[network_.node_of(from)];
    free = std::max(free, now_ + serve_line()) + mail.bytes / network_.rail_bytes_per_s();
    after(free - now_ + ways_.short_way(from, to), [this, to, mail]() {
      after(serve_line(), [this, to, mail]() {
        ranks_[to].inbox.push_back(mail);
        rouse(to, sleep_s(), 0);
      });
    });
  }

  /* All ranks enter; NodeBarrier says when each goes on. */
  void meet(uint64_t i) {
    Rank &r = ranks_[i];
    if (r.met) {
      r.met = r.entered = false;
      return done(i);
    }
    const bool enters = !r.entered;
    r.entered = true;
    if (enters) at_[i] = now_;
    entered_ += enters;
    rest(i);
    if (!enters || entered_ < ranks_.size()) return;
    entered_ = 0;
    barrier_.meet(at_);
    const size_t next = ranks_[i].at + 1;
    if (next < acts_[i].size() && acts_[i][next].what == Do::START) result_ = {};
    for (uint64_t k = 0; k < ranks_.size(); k++) {
      after(std::max(at_[k] - now_, 0.0), [this, k]() {
        ranks_[k].met = true;
        rouse(k, 0, 0);
      });
    }
  }

  const Network &network_;
  const Machine &m_;
  const std::vector<Acts> &acts_;
  NodeBarrier barrier_;
  Ways ways_;
  std::vector<Rank> ranks_;
  std::vector<double> at_; /* by rank: when it has entered the barrier */
  std::vector<double> line_free_;
  std::priority_queue<Event> events_;
  std::deque<uint64_t> ready_, spinning_;
  uint64_t made_ = 0, idle_, ended_ = 0, entered_ = 0;
  double now_ = 0, stolen_ = 0, line_until_ = -1;
  CrowdResult result_{};
};

} // namespace

bool crowd_has(const Network &network) {
  return network.machine().get("shared_processors") > 0;
}

void crowd_send(Acts &acts, Notice notice, const Act &to) {
  switch (notice) {
  case Notice::SIGNAL: acts.push_back({Do::SIGNAL, to.peer, to.slot, to.amount}); return;
  case Notice::QUEUE:
  case Notice::FLAG:
  case Notice::SYNC_ALL: acts.push_back({Do::PUT, to.peer, to.slot, to.amount}); break;
  default: throw Error("--way: ranks that share processors: give sync-all, queue, flag or signal");
  }
  if (notice == Notice::QUEUE) acts.push_back({Do::TELL, to.peer, to.slot, 0});
  if (notice == Notice::FLAG) acts.push_back({Do::FLAG, to.peer, to.slot, 0});
}

void crowd_await(Acts &acts, Notice notice, size_t slot) {
  if (notice == Notice::SYNC_ALL) return;
  acts.push_back({notice == Notice::SIGNAL ? Do::WAIT : Do::LOOK, 0, slot, 0});
}

void crowd_start(Acts &acts) {
  acts.push_back({Do::MEET, 0, 0, 0});
  acts.push_back({Do::START, 0, 0, 0});
}

CrowdResult crowd_run(const Network &network, const std::vector<Acts> &acts, size_t slots) {
  return Crowd(network, acts, slots).run();
}

} // namespace sim
