/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream mode: engines over connections of the loopback interface, with full socket buffers,
 * with connections that break and that both begin at once; the fall-back where no datagram arrives;
 * tails in place; unknown senders; greetings. */
#include "net/udp/stream/udp_conn.h"
#include "net/udp/udp_pair_test.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LIMIT_NS 10000000000u /* on a busy machine this process may stand still for long */

/* Messages in both directions, both beginning at once. */
TEST(messages) {
  static const size_t sizes[] = {0, 8, 100, 257, 1000, 5000, 65536, 20000, 16};
  for (int v6 = 0; v6 < 2; v6++) {
    begin(UDP_STREAM_ALWAYS, v6 ? AF_INET6 : AF_INET, NULL);
    for (uint32_t k = 0; k < 3000; k++) message(k & 1, k, sizes[k % TMB_ARRAY_LEN(sizes)]);
    until(3000);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(rig_stats[i].refused, 0);
      assert_cmp(rig_stats[i].retransmits, <, 100); /* while the pair changes its connection */
    }
    end(3000);
  }
}

/* 60 MB in each direction while neither reads for long stretches: full socket buffers stop nobody.
 */
TEST(full_buffers) {
  begin(UDP_STREAM_ALWAYS, AF_INET, NULL);
  uint64_t done = 0;
  for (uint32_t k = 0; k < 60; k++) {
    for (uint32_t r = 0; r < 2; r++) {
      struct tmb_rma rma = {.peer = !r,
                            .remote = rig_segment[!r] + (1u << 20),
                            .local = rig_segment[r],
                            .nbytes = 1u << 20,
                            .op = &done,
                            .category = 0};
      assert_int_equal(udp_put(rig_net[r], &rma), 0);
    }
    for (uint32_t i = 0; i < 500; i++) (void)rig_progress(k & 1, TMB_SERVE_ALL);
  }
  for (uint32_t steps = 0; done < 120; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    step();
  }
  end(0);
}

/* A broken connection loses no message and doubles none; so do bits turned over in it. */
TEST(broken) {
  begin(UDP_STREAM_ALWAYS, AF_INET, NULL);
  struct udp_fault_config f = {.corrupt = 0.1, .loss = 0.05, .seed = 5};
  for (uint32_t i = 0; i < 2; i++) assert_true(udp_fault_wrap(&rig_net[i]->io, &f));
  for (uint32_t k = 0; k < 3000; k++) message(k & 1, k, k % 7 ? 100 : 200);
  until(3000);
  assert_cmp(rig_stats[0].refused + rig_stats[1].refused, >, 0);
  end(3000);
}

/* Connections that end at any time, in both modes: nothing is lost or doubled. */
TEST(cut_off) {
  for (enum udp_stream_mode mode = UDP_STREAM_AUTO; mode <= UDP_STREAM_ALWAYS; mode++) {
    uint32_t ends = 0;
    begin(mode, AF_INET, mode == UDP_STREAM_AUTO ? "loss=100" : NULL);
    message(0, 0, 10);
    until(1);
    for (uint32_t k = 1; k < 400; k++) {
      message(k & 1, k, k * 37 % 5000);
      if (k % 100 == 50) ends += cut();
    }
    assert_cmp(ends, >=, 4);
    end(400);
    /* All that was lost with a connection is sent again at once, not one packet a time-out. Where
     * datagrams are lost on purpose, time-outs are right. */
    const uint64_t again = rig_stats[0].retransmits + rig_stats[1].retransmits;
    if (mode == UDP_STREAM_ALWAYS)
      assert_cmp(4 * (rig_stats[0].timeouts + rig_stats[1].timeouts), <, again);
  }
}

/* No datagram arrives: after a while connections are used, also by the one that only answers. */
TEST(fall_back) {
  begin(UDP_STREAM_AUTO, AF_INET, "loss=100");
  for (uint32_t k = 0; k < 500; k++) message(k & 1, k, k % 3000);
  end(500);
  begin(UDP_STREAM_AUTO, AF_INET, NULL); /* they arrive: no connection is made */
  for (uint32_t k = 0; k < 500; k++) message(k & 1, k, k % 3000);
  until(500);
  struct pollfd fds[2];
  assert_int_equal(rig_net[1]->io.ops->fds(rig_net[1]->io.state, fds, 2), 2);
  end(500);
}

/* A peer that does not answer for long is sent the packet again, and nothing else: where datagrams
 * have one rail, no probe asks whether that carries anything. */
TEST(no_probes) {
  bulk = true;
  begin(UDP_STREAM_AUTO, AF_INET, NULL);
  bulk = false;
  message(0, 7, 100);
  const uint64_t from = udp_conn_now(), sent = tmb_load_rlx(&rig_stats[0].packets_out);
  const uint64_t before = tmb_load_rlx(&rig_stats[0].retransmits);
  uint64_t again = 0;
  while (udp_conn_now() - from < 200000000u || (again < 2 && udp_conn_now() - from < LIMIT_NS)) {
    (void)rig_progress(0, TMB_SERVE_ALL);
    again = tmb_load_rlx(&rig_stats[0].retransmits) - before;
  }
  assert_cmp(again, >=, 2);
  assert_int_equal(tmb_load_rlx(&rig_stats[0].packets_out) - sent, again);
  end(1);
}

/* ---- tails that are read to their place, by one connection */

enum { TAIL = 30000, HEAD = 96, NEXT = 48, STREAM = HEAD + TAIL + NEXT };
static uint8_t tail_memory[TAIL];
static bool tail_has_place;

static uint8_t *tail_at(void *placer, const uint8_t *head, uint32_t bytes) {
  assert_ptr_equal(placer, tail_memory);
  assert_int_equal(bytes, HEAD);
  assert_int_equal(((const struct udp_header *)(const void *)head)->seq, 17);
  return tail_has_place ? tail_memory : NULL;
}

/* A packet with a tail of counting bytes, then one without. */
static void write_stream(uint8_t *to) {
  const struct udp_header h = {
      .job = 5, .src = 1, .seq = 17, .bytes = HEAD + TAIL, .control = HEAD - UDP_HEADER_BYTES - 8};
  const struct udp_header next = {.job = 5, .src = 1, .seq = 18, .bytes = NEXT, .control = 8};
  memset(to, 0, STREAM);
  memcpy(to, &h, sizeof h);
  for (uint32_t i = 0; i < TAIL; i++) to[HEAD + i] = (uint8_t)(i * 13 + 1);
  memcpy(to + HEAD + TAIL, &next, sizeof next);
}

/* Send the stream in two parts, of which the first `allowed` find the place, and receive. Returns
 * how many packets came with their tail in place. */
static uint32_t take_parts(const struct udp_conn_env *env, struct udp_conn *c, int fd, size_t part,
                           int allowed) {
  static uint8_t stream[STREAM], packet[UDP_DATAGRAM_MAX];
  uint32_t placed = 0;
  write_stream(stream);
  for (size_t at = 0, bytes = part; at < STREAM; at += bytes, bytes = STREAM - at) {
    assert_int_equal(write(fd, stream + at, bytes), bytes);
    tail_has_place = (at != 0) < allowed;
    for (int i = 0; i < 8; i++) {
      assert_true(udp_conn_serve(env, c, EPOLLIN));
      const int next = udp_conn_next(env, c);
      assert_cmp(next, >=, 0);
      if (!next) continue;
      const bool in = udp_conn_take(c, packet, (uint32_t)next);
      assert_memory_equal(packet, stream + (next == NEXT ? HEAD + TAIL : 0), next);
      placed += in;
    }
  }
  return placed;
}

/* Wherever the stream is cut, all tails come to their places; where the place is lost meanwhile,
 * the rest of the tail is skipped, writes nothing, and harms nothing behind it. */
TEST(tails) {
  static uint8_t stream[STREAM];
  const struct udp_datagrams in = {.place = tail_at, .placer = tail_memory};
  const struct udp_conn_env env = {.greeter = {rig_secret, 5, 0, 2}, .epoll = -1, .in = &in};
  static const size_t parts[] = {1,    39,   40,    41,    95,          96,          97,
                                 5000, 9000, 25900, 26095, HEAD + TAIL, STREAM - 40, STREAM - 1};
  write_stream(stream);
  for (size_t k = 0; k < TMB_ARRAY_LEN(parts); k++)
    for (int allowed = 0; allowed < 3; allowed++) {
      int fd[2];
      assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
      struct udp_conn *c = calloc(1, sizeof *c);
      assert_non_null(c);
      *c = (struct udp_conn){.fd = fd[0], .peer = 1, .state = UDP_CONN_UP};
      memset(tail_memory, 0, TAIL);
      const uint32_t placed = take_parts(&env, c, fd[1], parts[k], allowed);
      uint32_t right = 0;
      while (right < TAIL && tail_memory[right] == stream[HEAD + right]) right++;
      if (placed) assert_int_equal(right, TAIL);
      if (!allowed) assert_int_equal(right, 0);
      if (parts[k] > HEAD && parts[k] < 20000) {
        assert_int_equal(placed, allowed == 2);
        if (allowed == 1) assert_int_equal(right, parts[k] - HEAD);
      }
      udp_conn_shut(&env, c);
      udp_conn_free(c);
      close(fd[1]);
    }
}

static int knock(void) {
  const struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = door, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_cmp(fd, >=, 0);
  assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
  return fd;
}

static void look(void) {
  for (uint32_t i = 0; i < 3000; i++) step();
}

/* A sender that does not know the secret gets nothing but a challenge, is counted, and disturbs
 * nobody; 200 silent ones do not use up the door. */
TEST(unknown_senders) {
  begin(UDP_STREAM_ALWAYS, AF_INET, NULL);
  const int fd = knock();
  look();
  struct udp_challenge challenge;
  assert_int_equal(recv(fd, &challenge, sizeof challenge, 0), sizeof challenge);
  static const uint8_t other[TMB_NET_SECRET_BYTES] = "another secret";
  const struct udp_greeter g = {other, 0x1234567890abcdefu, 0, 2};
  struct udp_hello hello;
  assert_true(udp_hello_make(&g, 1, &challenge, &hello));
  assert_int_equal(write(fd, &hello, sizeof hello), sizeof hello);
  look();
  char rest;
  assert_cmp(recv(fd, &rest, 1, 0), <=, 0);
  assert_int_equal(rig_stats[1].refused, 1);
  close(fd);
  int silent[200];
  for (uint32_t i = 0; i < 200; i++) {
    silent[i] = knock();
    look();
  }
  message(0, 1, 100);
  message(1, 2, 100);
  until(2);
  for (uint32_t i = 0; i < 200; i++) close(silent[i]);
  end(2);
}

/* A packet whose length somebody has changed: it never comes whole, whatever follows it, and the
 * connection ends. One that comes slowly is waited for. */
TEST(never_whole) {
  int ends[2];
  struct udp_conn_env env = {.greeter = {rig_secret, 5, 0, 2}, .stats = &rig_stats[0]};
  const struct udp_greeter peer = {rig_secret, 5, 1, 2};
  struct udp_challenge challenge;
  struct udp_hello hello;
  env.epoll = epoll_create1(EPOLL_CLOEXEC);
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  struct udp_conn *c = udp_conn_accepted(&env, ends[0]);
  assert_non_null(c);
  assert_int_equal(recv(ends[1], &challenge, sizeof challenge, 0), sizeof challenge);
  assert_true(udp_hello_make(&peer, 0, &challenge, &hello));
  assert_int_equal(send(ends[1], &hello, sizeof hello, 0), sizeof hello);
  assert_true(udp_conn_serve(&env, c, EPOLLIN));
  assert_true(udp_conn_is_up(c));
  static uint8_t packet[2000], memory[2000];
  struct udp_header h = {.job = 5, .src = 1, .bytes = sizeof packet};
  memcpy(packet, &h, sizeof h);
  for (size_t at = 0; at < sizeof packet; at += 1000) { /* two halves */
    assert_int_equal(send(ends[1], packet + at, 1000, 0), 1000);
    assert_true(udp_conn_serve(&env, c, EPOLLIN));
    usleep(200000);
  }
  assert_int_equal(udp_conn_next(&env, c), sizeof packet);
  (void)udp_conn_take(c, memory, sizeof packet);
  h.bytes = 60000;
  memcpy(packet, &h, sizeof h);
  const uint64_t refused = rig_stats[0].refused;
  uint32_t sent = 0;
  do { /* retransmitted bytes */
    assert_int_equal(send(ends[1], packet, 100, 0), 100);
    usleep(10000);
    sent++;
    assert_cmp(sent, <, 500);
  } while (udp_conn_serve(&env, c, EPOLLIN));
  assert_int_equal(rig_stats[0].refused, refused + 1);
  udp_conn_shut(&env, c);
  udp_conn_free(c);
  close(ends[1]);
  close(env.epoll);
}

/* A process that has ended: the engine learns that nobody listens, and says so. */
TEST(lost_peer) {
  begin(UDP_STREAM_ALWAYS, AF_INET, NULL);
  message(0, 1, 100);
  until(1);
  struct udp_io io = rig_net[1]->io;
  io.ops->close(io.state);
  message(0, 2, 100);
  for (uint32_t i = 0; !rig_lost_why; i++) {
    assert_cmp(i, <, STEPS_MAX);
    (void)rig_progress(0, TMB_SERVE_ALL);
    usleep(1000);
  }
  assert_non_null(strstr(rig_lost_why, "nobody listens"));
  assert_int_equal(udp_peer_lost(rig_net[0], 1), 0);
  udp_engine_free(rig_net[1]);
  free(rig_segment[1]);
  io = rig_net[0]->io;
  udp_engine_free(rig_net[0]);
  io.ops->close(io.state);
  free(rig_segment[0]);
}

/* Each bit of a greeting matters, and one greeting fits one challenge only. */
TEST(greetings) {
  const struct udp_greeter a = {rig_secret, 7, 0, 3}, b = {rig_secret, 7, 1, 3};
  struct udp_challenge c, d;
  struct udp_hello h, changed;
  struct udp_welcome w, v;
  assert_true(udp_challenge_make(&c) && udp_challenge_make(&d));
  assert_true(udp_hello_make(&a, 1, &c, &h));
  assert_true(udp_hello_check(&b, &c, &h, &w));
  assert_true(udp_welcome_check(&a, &c, &h, &w));
  assert_false(udp_hello_check(&b, &d, &h, &v)); /* recorded and said again */
  assert_false(udp_welcome_check(&a, &d, &h, &w));
  assert_false(udp_hello_check(&a, &c, &h, &v)); /* turned back to its sender */
  for (size_t bit = 0; bit < sizeof h * 8; bit++) {
    changed = h;
    ((uint8_t *)&changed)[bit / 8] ^= (uint8_t)(1u << bit % 8);
    assert_false(udp_hello_check(&b, &c, &changed, &v));
  }
  for (size_t bit = 0; bit < sizeof w * 8; bit++) {
    v = w;
    ((uint8_t *)&v)[bit / 8] ^= (uint8_t)(1u << bit % 8);
    assert_false(udp_welcome_check(&a, &c, &h, &v));
  }
}

int main(void) {
  return unit_run(NULL, NULL);
}
