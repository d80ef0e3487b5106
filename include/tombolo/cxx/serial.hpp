/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/serial.hpp: how values become bytes of a message, and values again.
 *
 * Called by call.hpp and rpc.hpp, and by the serial<T> of clients. Calls nothing. Types of one's
 * own have a member fields(archive), or write and read, or a specialisation of serial<T>.
 * Invariants: a reader never leaves its bytes: each length and number is checked before it is used,
 * also before memory is taken for it; serial<T>::read reads as much as serial<T>::write has
 * written.
 */
#ifndef TOMBOLO_CXX_SERIAL_HPP
#define TOMBOLO_CXX_SERIAL_HPP

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base.hpp"

namespace tombolo {

template <class T, class = void> struct serial;

/* The bytes of a message in the making. */
class writer {
public:
  template <class T> void write(const T &value) { serial<T>::write(*this, value); }
  /* Writes each of them; for fields(). */
  template <class... T> void operator()(const T &...values) { (write(values), ...); }
  void bytes(const void *from, size_t n) { out_.append(static_cast<const char *>(from), n); }
  /* Fills up to a multiple of `bytes`. */
  void align(size_t bytes) { out_.resize((out_.size() + bytes - 1) / bytes * bytes); }
  const char *data() const { return out_.data(); }
  size_t size() const { return out_.size(); }

private:
  std::string out_;
};

/* The bytes of a message that has arrived. Throws error where they end too early. */
class reader {
public:
  reader(const char *in, size_t n) : begin_(in), at_(in), end_(in + n) {}
  template <class T> T read() { return serial<T>::read(*this); }
  /* Reads each of them; for fields(). */
  template <class... T> void operator()(T &...values) { ((values = read<T>()), ...); }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  /* The next n bytes, which live as long as the message. */
  const char *bytes(size_t n) {
    if (n > left())
      throw error("serial: " + std::to_string(n) + " bytes are wanted where " +
                  std::to_string(left()) + " are left; read() must read what write() writes");
    at_ += n;
    return at_ - n;
  }
  /* A number of elements that have at least so many bytes each. */
  size_t count(size_t element_bytes) {
    uint64_t n;
    std::memcpy(&n, bytes(sizeof n), sizeof n);
    if (n > left() / element_bytes)
      throw error("serial: " + std::to_string(n) + " elements do not lie in the " +
                  std::to_string(left()) + " bytes that are left");
    return n;
  }
  void align(size_t n) { bytes((n - static_cast<size_t>(at_ - begin_) % n) % n); }

private:
  const char *begin_, *at_, *end_;
};

/* n elements in memory, which stay unchanged until the call that they are an argument of returns.
 * The function that gets it reads them in the message, without a copy, until it has returned and a
 * future that it returns is ready. */
template <class T> class elements {
  static_assert(detail::travels<T>, "elements<T>: T must be trivially copyable");
  static_assert(alignof(T) <= 8, "elements<T>: at most 8 bytes of alignment");

public:
  elements() = default;
  elements(const T *from, size_t n) : from_(from), n_(n) {}
  /* Of a vector, array, span or string. */
  template <class C, class = decltype(static_cast<const T *>(std::declval<const C &>().data()))>
  explicit elements(const C &from) : from_(from.data()), n_(from.size()) {}

  const T *data() const { return from_; }
  const T *begin() const { return from_; }
  const T *end() const { return from_ + n_; }
  size_t size() const { return n_; }
  bool empty() const { return n_ == 0; }
  const T &operator[](size_t i) const { return from_[i]; }

private:
  const T *from_ = nullptr;
  size_t n_ = 0;
};
template <class C>
elements(const C &) -> elements<
    std::remove_const_t<std::remove_pointer_t<decltype(std::declval<const C &>().data())>>>;

namespace detail {

/* Functions are named by their distance from this one: programs may lie at different addresses. */
inline void anchor() {}
template <class F> F function_at(intptr_t distance) {
  return reinterpret_cast<F>(reinterpret_cast<intptr_t>(&anchor) + distance);
}

template <class T, class = void> constexpr bool has_fields = false;
template <class T>
constexpr bool
    has_fields<T, std::void_t<decltype(std::declval<T &>().fields(std::declval<writer &>()))>> =
        true;
template <class T, class = void> constexpr bool has_members = false;
template <class T>
constexpr bool
    has_members<T, std::void_t<decltype(std::declval<const T &>().write(std::declval<writer &>()),
                                        T::read(std::declval<reader &>()))>> = true;
template <class T, class = void> constexpr bool is_container = false;
template <class T>
constexpr bool
    is_container<T, std::void_t<decltype(std::declval<T &>().insert(
                        std::declval<T &>().end(), std::declval<typename T::value_type>()))>> =
        true;
template <class T, class = void> constexpr bool is_variant = false;
template <class T>
constexpr bool
    is_variant<T, std::void_t<decltype(std::declval<const T &>().valueless_by_exception())>> = true;
/* A list whose elements are inserted after others: std::forward_list. */
template <class T, class = void> constexpr bool is_chain = false;
template <class T>
constexpr bool
    is_chain<T, std::void_t<decltype(std::declval<T &>().insert_after(
                    std::declval<T &>().before_begin(), std::declval<typename T::value_type>()))>> =
        true;
template <class T>
constexpr bool is_function = std::is_function_v<std::remove_pointer_t<T>> &&std::is_pointer_v<T>;

template <class F> intptr_t distance_of(F function) {
  return reinterpret_cast<intptr_t>(function) - reinterpret_cast<intptr_t>(&anchor);
}

/* Whether elements of a container are copied as one piece. */
template <class T> constexpr bool in_one_piece = false;
template <class T, class A>
constexpr bool in_one_piece<std::vector<T, A>> =
    travels<T> && !std::is_same_v<T, bool> && !is_function<T> && !has_fields<T>;
template <class C, class A> constexpr bool in_one_piece<std::basic_string<C, A>> = true;

/* The type that is read for the element of a container: keys of maps are not const then. */
template <class T> struct unkeyed { using type = T; };
template <class A, class B> struct unkeyed<std::pair<const A, B>> { using type = std::pair<A, B>; };

template <class T> T read_plain(reader &in) {
  union slot { /* T need not have a default constructor: lambdas have none */
    char bytes[sizeof(T)];
    T value;
    slot() {}
  } s;
  std::memcpy(s.bytes, in.bytes(sizeof(T)), sizeof(T));
  return s.value;
}

template <class C> uint64_t length(const C &value) {
  if constexpr (is_chain<C>) {
    uint64_t n = 0;
    for (auto at = value.begin(); at != value.end(); ++at) n++;
    return n;
  } else {
    return value.size();
  }
}
template <class C> void write_container(writer &out, const C &value) {
  out.write(length(value));
  if constexpr (in_one_piece<C>) {
    out.bytes(value.data(), value.size() * sizeof(typename C::value_type));
  } else {
    for (const auto &x : value) out.write(typename unkeyed<typename C::value_type>::type(x));
  }
}
template <class C> C read_container(reader &in) {
  using value_type = typename C::value_type;
  C value;
  if constexpr (in_one_piece<C>) {
    const size_t n = in.count(sizeof(value_type));
    value.resize(n);
    if (n) std::memcpy(value.data(), in.bytes(n * sizeof(value_type)), n * sizeof(value_type));
  } else if constexpr (is_chain<C>) {
    auto at = value.before_begin();
    for (size_t n = in.count(1); n > 0; n--) at = value.insert_after(at, in.read<value_type>());
  } else {
    for (size_t n = in.count(1); n > 0; n--)
      value.insert(value.end(), in.read<typename unkeyed<value_type>::type>());
  }
  return value;
}

} // namespace detail

/* The form in which a T travels. write() appends to `out`, read() takes from `in`. Here: types with
 * a member template fields(archive) that gives its data to the archive; types with write(writer &)
 * const and static read(reader &); functions; trivially copyable types; containers with insert() or
 * insert_after(). */
template <class T, class> struct serial {
  static_assert(detail::has_fields<T> || detail::has_members<T> || detail::is_function<T> ||
                    detail::travels<T> || detail::is_container<T> || detail::is_chain<T>,
                "T does not travel: give it a member fields(archive), specialise "
                "tombolo::serial<T>, or make it trivially copyable; what a lambda captures and "
                "does not travel is given as an argument");
  static void write(writer &out, const T &value) {
    if constexpr (detail::has_members<T>)
      value.write(out);
    else if constexpr (detail::has_fields<T>)
      const_cast<T &>(value).fields(out);
    else if constexpr (detail::is_function<T>)
      out.write(detail::distance_of(value));
    else if constexpr (detail::travels<T>)
      out.bytes(&value, sizeof(T));
    else
      detail::write_container(out, value);
  }
  static T read(reader &in) {
    if constexpr (detail::has_members<T>) {
      return T::read(in);
    } else if constexpr (detail::has_fields<T>) {
      T value{};
      value.fields(in);
      return value;
    } else if constexpr (detail::is_function<T>) {
      return detail::function_at<T>(in.read<intptr_t>());
    } else if constexpr (detail::travels<T>) {
      return detail::read_plain<T>(in);
    } else {
      return detail::read_container<T>(in);
    }
  }
};

template <class T> struct serial<elements<T>> {
  static void write(writer &out, const elements<T> &value) {
    out.write(uint64_t(value.size()));
    out.align(alignof(T));
    if (!value.empty()) out.bytes(value.data(), value.size() * sizeof(T));
  }
  static elements<T> read(reader &in) {
    const size_t n = in.count(sizeof(T));
    in.align(alignof(T));
    return {reinterpret_cast<const T *>(in.bytes(n * sizeof(T))), n};
  }
};

template <class A, class B> struct serial<std::pair<A, B>> {
  static void write(writer &out, const std::pair<A, B> &value) { out(value.first, value.second); }
  static std::pair<A, B> read(reader &in) {
    A first = in.read<A>();
    return {std::move(first), in.read<B>()};
  }
};

template <class... T> struct serial<std::tuple<T...>> {
  static void write(writer &out, const std::tuple<T...> &value) {
    std::apply([&](const T &...x) { out(x...); }, value);
  }
  static std::tuple<T...> read(reader &in) {
    static_cast<void>(in);
    return std::tuple<T...>{in.read<T>()...}; /* braces: from left to right */
  }
};

template <class T, size_t N> struct serial<std::array<T, N>> {
  static void write(writer &out, const std::array<T, N> &value) {
    for (const T &x : value) out.write(x);
  }
  static std::array<T, N> read(reader &in) { return all(in, std::make_index_sequence<N>()); }

private:
  template <size_t... I> static std::array<T, N> all(reader &in, std::index_sequence<I...>) {
    static_cast<void>(in);
    return {{(static_cast<void>(I), in.read<T>())...}};
  }
};

template <class T> struct serial<std::optional<T>> {
  static void write(writer &out, const std::optional<T> &value) {
    out.write(uint8_t(value.has_value()));
    if (value) out.write(*value);
  }
  static std::optional<T> read(reader &in) {
    if (!in.read<uint8_t>()) return std::nullopt;
    return in.read<T>();
  }
};

/* std::variant, whose header takes long to compile and is that of its users. */
template <template <class...> class V, class... T>
struct serial<V<T...>, std::enable_if_t<detail::is_variant<V<T...>>>> {
  using type = V<T...>;
  static void write(writer &out, const type &value) {
    out.write(uint32_t(value.index()));
    visit([&](const auto &x) { out.write(x); }, value);
  }
  static type read(reader &in) { return pick<0>(in, in.read<uint32_t>()); }

private:
  template <size_t I> static type pick(reader &in, uint32_t index) {
    if constexpr (I == sizeof...(T)) {
      throw error("serial: a variant of " + std::to_string(I) + " types has no type " +
                  std::to_string(index));
    } else {
      if (index != I) return pick<I + 1>(in, index);
      return type(std::in_place_index<I>, in.read<std::tuple_element_t<I, std::tuple<T...>>>());
    }
  }
};

} // namespace tombolo

#endif
