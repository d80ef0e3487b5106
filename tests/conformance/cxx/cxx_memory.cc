/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* mode: PAR */
/*
 * global_ptr: const, casts, local places, order, hash, text; memory and objects of one rank in the
 * shared heap, from several threads, and where there is no room (docs/CPP.md).
 */
#include <map>
#include <sstream>
#include <thread>
#include <unordered_set>

#include "checked.hpp"

namespace {

using tombolo::global_ptr;
using tombolo::job;

struct tree {
  long value = 0;
  global_ptr<tree> left, right;
};
struct base {
  int a;
};
struct derived : base {
  int b;
};

constexpr size_t HeapBytes = 1 << 20;

template <class E, class F> std::string text_of(F f) {
  try {
    f();
  } catch (const E &e) {
    return e.what();
  }
  return "";
}
bool has(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

void check_pointers(const job &j) {
  const auto a = j.allocate<int>(4);
  const unsigned right = (j.rank() + 1) % j.size();
  for (int i = 0; i < 4; i++) a.local()[i] = int(j.rank()) * 10 + i;
  j.barrier();
  const global_ptr<const int> p = a.on(right);
  CHECK_EQ(get(p + 1), int(right) * 10 + 1);
  CHECK_EQ(int(p[3]), int(right) * 10 + 3);
  int two[2];
  get(p + 2, two, 2);
  CHECK_EQ(two[1], int(right) * 10 + 3);
  CHECK_EQ(rget(p).wait(), int(right) * 10);
  rget(p, two, 2).wait();
  CHECK_EQ(two[1], int(right) * 10 + 1);
  j.barrier();
}

void check_places(const job &j) {
  const auto a = j.allocate<int>(4);
  const unsigned right = (j.rank() + 1) % j.size();
  const global_ptr<const int> p = a.on(right);
  CHECK(p == a.on(right) && a.on(right) == p && p != nullptr && !p.is_null());
  CHECK_EQ((2 + p) - p, 2);
  CHECK(p < p + 1 && p + 1 > p && p <= p && p >= p);
  if (j.size() > 1) CHECK(a.on(0) + 3 < a.on(1));
  global_ptr<const int> walk = p;
  CHECK(walk++ == p && walk-- == p + 1 && walk == p);
  j.barrier();
}

void check_casts(const job &j) {
  const auto a = j.allocate<int>(4);
  const unsigned right = (j.rank() + 1) % j.size();
  const global_ptr<const int> p = a.on(right);
  CHECK(tombolo::const_pointer_cast<int>(p) == a.on(right));
  const auto bytes = tombolo::reinterpret_pointer_cast<const char>(p);
  CHECK_EQ(tombolo::reinterpret_pointer_cast<const int>(bytes + sizeof(int)) - p, 1);
  const global_ptr<int> null;
  CHECK(null.is_null() && null == nullptr && !null && null.is_local() && !null.local());
  CHECK(a.on(j.rank()).is_local() && a.on(j.rank()).local() == a.local());
  CHECK(tombolo::to_global(a.local() + 2) == a.on(j.rank()) + 2);
  if (p.is_local()) CHECK(tombolo::to_global(p.local()) == p);
  int outside = 0;
  CHECK(has(text_of<tombolo::error>([&] { tombolo::to_global(&outside); }), "to_global"));
  std::unordered_set<global_ptr<int>> set;
  for (unsigned r = 0; r < j.size(); r++)
    for (int i = 0; i < 4; i++) set.insert(a.on(r) + i);
  CHECK_EQ(set.size(), 4 * j.size());
  CHECK_EQ(set.count(a.on(right) + 4), 0);
  std::ostringstream text;
  text << a.on(right);
  CHECK(has(text.str(), ("rank " + std::to_string(right) + ": 0x").c_str()));
  j.barrier();
}

void check_objects(const job &j) {
  const auto roots = j.allocate<global_ptr<tree>>(1);
  const auto root = tombolo::new_<tree>();
  root.local()->value = j.rank();
  root.local()->left = tombolo::new_<tree>(tree{long(j.rank()) + 100, nullptr, nullptr});
  roots.local()[0] = root;
  j.barrier();
  const unsigned right = (j.rank() + 1) % j.size();
  const tree far = *get(roots.on(right));
  CHECK_EQ(far.value, right);
  CHECK_EQ(get(far.left).value, right + 100);
  j.barrier();
  if (j.size() > 1)
    CHECK(has(text_of<tombolo::error>([&] { tombolo::delete_(far.left); }),
              ("rank " + std::to_string(right)).c_str()));
  tombolo::delete_(root.local()->left);
  tombolo::delete_(root);
  CHECK(has(text_of<tombolo::error>([&] { tombolo::delete_(root); }), "freed already"));
  tombolo::delete_(global_ptr<tree>());

  const auto words = tombolo::new_array<std::string>(5); /* no trivially copyable type */
  words.local()[4] = std::string(100, 'w');
  CHECK(words.local()[0].empty());
  CHECK(has(text_of<tombolo::error>([&] { tombolo::delete_(words); }), "delete_array"));
  tombolo::delete_array(words);
  const auto object = tombolo::new_<derived>();
  const global_ptr<base> up = tombolo::static_pointer_cast<base>(object);
  CHECK(tombolo::static_pointer_cast<derived>(up) == object);
  tombolo::delete_(object);
  for (const size_t alignment : {16u, 64u, 4096u, 65536u}) {
    const auto p = tombolo::allocate<char>(10, alignment);
    CHECK_EQ(reinterpret_cast<uintptr_t>(p.local()) % alignment, 0);
    tombolo::deallocate(p);
  }
  CHECK(has(text_of<tombolo::error>([] { tombolo::allocate<char>(1, 3); }), "alignment 3"));
}

struct thrower {
  static int living;
  explicit thrower() {
    if (living == 2) throw std::runtime_error("third");
    living++;
  }
  ~thrower() { living--; }
};
int thrower::living = 0;

void check_room(const job &j) {
  CHECK(text_of<std::runtime_error>([] { tombolo::new_array<thrower>(4); }) == "third");
  CHECK_EQ(thrower::living, 0);
  const std::string text = text_of<std::bad_alloc>([] { tombolo::new_array<double>(HeapBytes); });
  CHECK(has(text, "new_array: 1048576 elements of 8 bytes") && has(text, "heap_bytes"));
  CHECK(tombolo::allocate<char>(std::nothrow, SIZE_MAX) == nullptr);
  /* What one rank has taken is missing to all in a collective call; freed, it is there again. */
  const bool taker = j.rank() == j.size() - 1;
  global_ptr<char> most;
  if (taker) most = tombolo::allocate<char>(HeapBytes * 3 / 4);
  CHECK(has(text_of<tombolo::error>([&] { j.allocate<char>(HeapBytes / 2); }), "on 1 ranks"));
  tombolo::deallocate(most);
  const auto half = j.allocate<char>(HeapBytes / 2);
  CHECK(tombolo::allocate<char>(std::nothrow, HeapBytes * 3 / 4) == nullptr);
  CHECK_EQ(half.local()[HeapBytes / 2 - 1], 0);
  j.barrier();
}

/* Each thread fills blocks of many sizes, checks them and frees them in another order. */
void churn(unsigned seed) {
  std::map<unsigned, std::pair<global_ptr<unsigned char>, size_t>> blocks;
  for (unsigned step = 0; step < 2000; step++) {
    seed = seed * 1103515245 + 12345;
    const unsigned key = (seed >> 16) % 40;
    const auto found = blocks.find(key);
    if (found == blocks.end()) {
      const size_t n = 1 + (seed >> 8) % 700;
      const auto p = tombolo::allocate<unsigned char>(n);
      std::memset(p.local(), int(key), n);
      blocks[key] = {p, n};
    } else {
      const auto &b = found->second;
      size_t same = 0;
      while (same < b.second && b.first.local()[same] == key) same++;
      if (same != b.second) CHECK_EQ(same, b.second);
      tombolo::deallocate(b.first);
      blocks.erase(found);
    }
  }
  for (auto &b : blocks) tombolo::deallocate(b.second.first);
}

void check_threads(const job &j) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; t++) threads.emplace_back(churn, t + 3 * j.rank());
  for (auto &t : threads) t.join();
  check_room(j); /* nothing is lost */
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(
      argc, argv,
      {check_pointers, check_places, check_casts, check_objects, check_room, check_threads},
      HeapBytes);
}
