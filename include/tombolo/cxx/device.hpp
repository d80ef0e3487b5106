/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/device.hpp: memory of devices on all ranks, and copies between any two places.
 *
 * Called by clients. Calls memory kinds, further endpoints, puts and gets of the C API, and the
 * ends of completions.hpp. Invariants: the processor touches no memory of a device; a place on a
 * device names the endpoint of its owner, whatever heaps other ranks have; a copy is a put where
 * this process has the source, a get where it has the target, and otherwise both, by way of memory
 * of this process.
 */
#ifndef TOMBOLO_CXX_DEVICE_HPP
#define TOMBOLO_CXX_DEVICE_HPP

#include <gasnet_mk.h>
#include <optional>
#include <string>
#include <vector>

#include "allocate.hpp"
#include "completions.hpp"

namespace tombolo {

/* A place in memory of a device of a rank. A value: it may be copied to other ranks. Arithmetic
 * counts elements. Its elements are reached by copy and rcopy, and by kernels of that rank. */
template <class T> class device_ptr {
public:
  using element_type = T;

  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  /* [in] where: jobrank; [in] endpoint: of its device_heap there; [in] addr: as the device has it.
   */
  device_ptr(rank_t where, gex_EP_Index_t endpoint, T *addr)
      : addr_(addr), rank_(where), endpoint_(endpoint) {}
  /* Adds const. */
  template <class U, std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>, int> = 0>
  device_ptr(const device_ptr<U> &p) : device_ptr(p.where(), p.endpoint(), p.address()) {}

  rank_t where() const { return rank_; }
  /* The address for kernels and calls of the device's own library on rank where(). */
  T *address() const { return addr_; }
  gex_EP_Index_t endpoint() const { return endpoint_; }
  explicit operator bool() const { return addr_ != nullptr; }

  device_ptr operator+(ptrdiff_t n) const { return {rank_, endpoint_, addr_ + n}; }
  device_ptr operator-(ptrdiff_t n) const { return {rank_, endpoint_, addr_ - n}; }
  ptrdiff_t operator-(const device_ptr &other) const { return addr_ - other.addr_; }
  friend bool operator==(const device_ptr &a, const device_ptr &b) {
    return a.addr_ == b.addr_ && a.rank_ == b.rank_ && a.endpoint_ == b.endpoint_;
  }
  friend bool operator!=(const device_ptr &a, const device_ptr &b) { return !(a == b); }

private:
  T *addr_ = nullptr;
  rank_t rank_ = 0;
  gex_EP_Index_t endpoint_ = 0;
};

/* The CUDA device of an ordinal, as this process sees them, for device_heap. */
inline gex_MK_Create_args_t cuda_device(int ordinal) {
  gex_MK_Create_args_t args{};
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = ordinal;
  return args;
}

namespace detail {

/* Endpoints of this process by their index: those of device_heap objects. */
template <class Used> inline gex_EP_t device_endpoints[GASNET_MAXEPS];

/* A place of a copy. */
struct spot {
  void *addr; /* in its owner's address space */
  void *here; /* in this process, as memory of the host; null: not mapped, or of a device */
  rank_t rank;
  gex_EP_Index_t endpoint; /* 0: memory of the host */
};
template <class T> spot spot_of(T *p) {
  void *const at = const_cast<std::remove_const_t<T> *>(p);
  return {at, at, tombolo::rank(), 0};
}
template <class T> spot spot_of(const global_ptr<T> &p) {
  return {source(p), const_cast<std::remove_const_t<T> *>(p.local()), p.where(), 0};
}
template <class T> spot spot_of(const device_ptr<T> &p) {
  return {const_cast<std::remove_const_t<T> *>(p.address()), nullptr, p.where(), p.endpoint()};
}

/* The route from a local endpoint to one of another process, which is named by its jobrank. */
template <class Used> gex_TM_t route(gex_EP_Index_t mine, gex_EP_Index_t theirs) {
  if (!mine && !theirs) return self.world;
  return gex_TM_Pair(mine ? device_endpoints<Used>[mine] : gex_TM_QueryEP(self.world), theirs);
}
inline bool is_mine(const spot &s) {
  return s.here || s.rank == tombolo::rank();
}
template <class Used> future<> put_spot(const spot &from, const spot &to, size_t bytes) {
  return of_event(gex_RMA_PutNB(route<Used>(from.endpoint, to.endpoint), to.rank, to.addr,
                                from.here ? from.here : from.addr, bytes, GEX_EVENT_DEFER, 0));
}
template <class Used> future<> get_spot(const spot &from, const spot &to, size_t bytes) {
  return of_event(gex_RMA_GetNB(route<Used>(to.endpoint, from.endpoint),
                                to.here ? to.here : to.addr, from.rank, from.addr, bytes, 0));
}

/* Starts a copy of so many bytes. plain: `to` is any memory of this process. */
template <class Used>
future<> begin_copy(const spot &from, const spot &to, size_t bytes, bool plain) {
  if (!bytes) return {};
  if (!plain && is_mine(from)) return put_spot<Used>(from, to, bytes);
  if (is_mine(to)) return get_spot<Used>(from, to, bytes);
  auto buffer = std::make_shared<typename late<Used, std::vector<char>>::type>(bytes);
  const spot between = spot_of(buffer->data());
  return get_spot<Used>(from, between, bytes).then([=] {
    return put_spot<Used>(between, to, bytes).then([buffer] {});
  });
}

/* The element type of a place; none of other types. */
template <class P> struct placed {};
template <class T> struct placed<T *> { using type = T; };
template <class T> struct placed<global_ptr<T>> { using type = T; };
template <class T> struct placed<device_ptr<T>> { using type = T; };
/* Whether elements may be copied from a place A to a place B. */
template <class A, class B, class = void> constexpr bool copies = false;
template <class A, class B>
constexpr bool copies<A, B, std::void_t<typename placed<A>::type, typename placed<B>::type>> =
    std::is_same_v<std::remove_const_t<typename placed<A>::type>, typename placed<B>::type> &&
    !(std::is_pointer_v<A> && std::is_pointer_v<B>);

} // namespace detail

/* Starts a copy of n elements between any two places, each a T * of this process, a global_ptr<T>
 * or a device_ptr<T>; one of them is no T *. The source is not changed, and the target not used,
 * until the future is ready. Between two other ranks whose memory is not mapped, the elements pass
 * through memory of this process. */
template <class From, class To, std::enable_if_t<detail::copies<From, To>, int> = 0>
future<> rcopy(From from, To to, size_t n) {
  using T = typename detail::placed<To>::type;
  static_assert(detail::travels<T>, "rcopy: the type must be trivially copyable");
  return detail::begin_copy<typename detail::late<T>::type>(
      detail::spot_of(from), detail::spot_of(to), n * sizeof(T), std::is_pointer_v<To>);
}

/* A copy with ends, as those of views. */
template <class From, class To, class... C, std::enable_if_t<detail::copies<From, To>, int> = 0,
          detail::if_completions<C...> = 0>
auto rcopy(From from, To to, size_t n, C... ends) {
  const future<> done = rcopy(from, to, n);
  return detail::hand_out(detail::begun<>{detail::spot_of(to).rank, done, done, false}, ends...);
}

/* Blocking copy. */
template <class From, class To, std::enable_if_t<detail::copies<From, To>, int> = 0>
void copy(From from, To to, size_t n) {
  rcopy(from, to, n).wait();
}

/* Memory of one device of each rank. It lives as long as the process. */
class device_heap {
public:
  /* Collective over the job. [in] device: as gex_MK_Create has it, for instance cuda_device(0);
   * std::nullopt: this rank has none. [in] bytes: on this rank's device. Throws error on all ranks
   * when one of them cannot use its device. */
  device_heap(const std::optional<gex_MK_Create_args_t> &device, size_t bytes) {
    gex_EP_t endpoint = GEX_EP_INVALID;
    uint32_t failed = device && !open(*device, bytes, endpoint);
    detail::await_event(gex_Coll_ReduceToAllNB(detail::self.world, &failed, &failed, GEX_DT_U32,
                                               sizeof failed, 1, GEX_OP_ADD, nullptr, nullptr, 0));
    if (failed)
      throw error("device_heap: " + std::to_string(failed) + " ranks have no such device, or not " +
                  "so much memory of it; gex_System_SetVerboseErrors(1) shows why");
    gex_EP_PublishBoundSegment(detail::self.world, &endpoint, device ? 1 : 0, 0);
  }
  device_heap(const device_heap &) = delete;
  device_heap &operator=(const device_heap &) = delete;

  /* Whether this rank has a device here, and its bytes. */
  explicit operator bool() const { return memory_.bytes() != 0; }
  size_t bytes() const { return memory_.bytes(); }

  /* Memory for n elements on this rank's device, not initialised; not collective, any thread.
   * Throws shared_bad_alloc where there is no room. */
  template <class T> device_ptr<T> allocate(size_t n) {
    static_assert(detail::travels<T>, "device_heap: T must be trivially copyable");
    static_assert(alignof(T) <= 64, "device_heap: at most 64 bytes of alignment");
    const bool fits = n <= memory_.bytes() / sizeof(T);
    const size_t at = fits ? memory_.take(n * sizeof(T)) : detail::heap::none;
    if (at == detail::heap::none)
      throw shared_bad_alloc("device_heap: " + std::to_string(n) + " elements of " +
                             std::to_string(sizeof(T)) + " bytes are not free in the " +
                             std::to_string(memory_.bytes()) +
                             " bytes of this device; make a larger device_heap");
    return {tombolo::rank(), endpoint_, reinterpret_cast<T *>(base_ + at)};
  }
  /* Frees what allocate() gave; null is allowed. On the rank of the memory. */
  template <class T> void deallocate(const device_ptr<T> &p) {
    if (!p) return;
    const bool mine = p.where() == tombolo::rank() && p.endpoint() == endpoint_;
    if (!mine || !memory_.give(static_cast<size_t>(reinterpret_cast<char *>(p.address()) - base_)))
      throw error("device_heap: nothing of this heap and rank was given out at this address, or it "
                  "is freed already; give what allocate returned");
  }

private:
  /* Makes kind, segment and endpoint of this rank. */
  bool open(const gex_MK_Create_args_t &device, size_t bytes, gex_EP_t &endpoint) {
    gex_MK_t kind = GEX_MK_INVALID;
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    const gex_Client_t client = gex_EP_QueryClient(gex_TM_QueryEP(detail::self.world));
    const size_t page = GASNET_PAGESIZE, whole = (bytes + page - 1) / page * page;
    if (!bytes || whole < bytes || gex_MK_Create(&kind, client, &device, 0) != GASNET_OK)
      return false;
    if (gex_Segment_Create(&segment, client, nullptr, whole, kind, 0) != GASNET_OK) {
      gex_MK_Destroy(kind, 0);
      return false;
    }
    if (gex_EP_Create(&endpoint, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK ||
        gex_EP_BindSegment(endpoint, segment, 0) != GASNET_OK) {
      gex_Segment_Destroy(segment, 0);
      gex_MK_Destroy(kind, 0);
      return false;
    }
    base_ = static_cast<char *>(gex_Segment_QueryAddr(segment));
    endpoint_ = gex_EP_QueryIndex(endpoint);
    detail::device_endpoints<void>[endpoint_] = endpoint;
    memory_.open(whole);
    return true;
  }

  detail::heap memory_;
  char *base_ = nullptr;
  gex_EP_Index_t endpoint_ = 0;
};

} // namespace tombolo

#endif
