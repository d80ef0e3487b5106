/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler's calls in place of atomic operations of one size.
 *
 * Owns nothing. Included by atomic.c and wide.c, which define TYPE, BITS and the operations LOAD,
 * STORE, EXCHANGE, SWAP (compare and exchange) and FETCH. Calls: the checker, around an operation
 * on a watched word, and record and replay. Invariant: each is sequentially consistent, whatever
 * order was asked for.
 */
#define CHK_PASTE(a, b, c)   a##b##c
#define CHK_NAME(bits, what) CHK_PASTE(__tsan_atomic, bits, what)
#define CHK_ATOMIC(what)     CHK_NAME(BITS, what)
#define CHK_PC()             __builtin_return_address(0)

/* Whether record and replay do the operation. */
#define CHK_REPLAYED         (BITS <= 64 && chk_replay)

/* Runs an operation that gives a value, between the checker's calls, or leaves it to record and
 * replay. */
#define CHK_AROUND(at, kind, operation, what, a, b)                                             \
 const int watched = chk_watched->threads || chk_is_watched((const void *)(uintptr_t)(at));     \
 if (watched) chk_watched->atomic_begin((uintptr_t)(at), sizeof *(at), kind, CHK_PC());         \
 const TYPE value_ = CHK_REPLAYED                                                               \
                         ? (TYPE)chk_replay((volatile void *)(uintptr_t)(at), sizeof *(at),     \
                                            CHK_##what, (uint64_t)(a), (uint64_t)(b), CHK_PC()) \
                         : (operation);                                                         \
 if (watched) chk_watched->atomic_end((uintptr_t)(at), kind, CHK_PC())

TYPE CHK_ATOMIC(_load)(const volatile TYPE *at, int order);
TYPE CHK_ATOMIC(_load)(const volatile TYPE *at, int order) {
  (void)order;
  CHK_AROUND(at, CHK_LOAD, LOAD(at), GET, 0, 0);
  return value_;
}

void CHK_ATOMIC(_store)(volatile TYPE *at, TYPE value, int order);
void CHK_ATOMIC(_store)(volatile TYPE *at, TYPE value, int order) {
  (void)order;
  CHK_AROUND(at, CHK_STORE, EXCHANGE(at, value), SET, value, 0);
  (void)value_;
}

TYPE CHK_ATOMIC(_exchange)(volatile TYPE *at, TYPE value, int order);
TYPE CHK_ATOMIC(_exchange)(volatile TYPE *at, TYPE value, int order) {
  (void)order;
  CHK_AROUND(at, CHK_STORE, EXCHANGE(at, value), SET, value, 0);
  return value_;
}

TYPE CHK_ATOMIC(_compare_exchange_val)(volatile TYPE *at, TYPE expected, TYPE wanted, int order,
                                       int failure);
TYPE CHK_ATOMIC(_compare_exchange_val)(volatile TYPE *at, TYPE expected, TYPE wanted, int order,
                                       int failure) {
  (void)order, (void)failure;
  CHK_AROUND(at, CHK_STORE, SWAP(at, expected, wanted), SWAP, expected, wanted);
  return value_;
}

#define CHK_SWAP(what)                                                                      \
 int CHK_ATOMIC(_compare_exchange_##what)(volatile TYPE * at, TYPE * expected, TYPE wanted, \
                                          int order, int failure);                          \
 int CHK_ATOMIC(_compare_exchange_##what)(volatile TYPE * at, TYPE * expected, TYPE wanted, \
                                          int order, int failure) {                         \
  (void)order, (void)failure;                                                               \
  const TYPE before = *expected;                                                            \
  CHK_AROUND(at, CHK_STORE, SWAP(at, before, wanted), SWAP, before, wanted);                \
  *expected = value_;                                                                       \
  return value_ == before;                                                                  \
 }
CHK_SWAP(strong)
CHK_SWAP(weak)

#define CHK_FETCH(what)                                                      \
 TYPE CHK_ATOMIC(_fetch_##what)(volatile TYPE * at, TYPE value, int order);  \
 TYPE CHK_ATOMIC(_fetch_##what)(volatile TYPE * at, TYPE value, int order) { \
  (void)order;                                                               \
  CHK_AROUND(at, CHK_STORE, FETCH(what, at, value), what, value, 0);         \
  return value_;                                                             \
 }
CHK_FETCH(add)
CHK_FETCH(sub)
CHK_FETCH(and)
CHK_FETCH(or)
CHK_FETCH(xor)
CHK_FETCH(nand)

#undef TYPE
#undef BITS
#undef CHK_PASTE
#undef CHK_NAME
#undef CHK_ATOMIC
#undef CHK_PC
#undef CHK_REPLAYED
#undef CHK_AROUND
#undef CHK_SWAP
#undef CHK_FETCH
