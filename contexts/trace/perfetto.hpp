// Traces as packets of Perfetto, for https://ui.perfetto.dev and its trace processor. Each thread is a sequence of packets:
// its first one has the clock, the track and the defaults; names are interned; times are differences. A span without
// arguments takes some 26 bytes. Field numbers are those of Perfetto's trace_packet.proto and its neighbours.
#pragma once

#include <overdub/contexts/trace/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::contexts::tracing {

/// A protobuf message: consecutive fields.
class message_bytes {
public:
  std::string const& bytes() const { return bytes_; }

  message_bytes& number(unsigned field, std::uint64_t x) {
    varint(field << 3);
    varint(x);
    return *this;
  }
  message_bytes& real(unsigned field, std::uint64_t bits) {
    varint(field << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(bits >> 8 * i & 0xff);
    return *this;
  }
  message_bytes& text(unsigned field, std::string_view s) { return raw(field, overdub::detail::as_utf8(s)); }
  message_bytes& message(unsigned field, message_bytes const& m) { return raw(field, m.bytes_); }
  message_bytes& raw(unsigned field, std::string_view s) {
    varint(field << 3 | 2);
    varint(s.size());
    bytes_ += s;
    return *this;
  }

private:
  void varint(std::uint64_t x) {
    for (; x >= 0x80; x >>= 7) bytes_ += static_cast<char>(x | 0x80);
    bytes_ += static_cast<char>(x);
  }
  std::string bytes_;
};

class perfetto_writer final : public trace_writer {
public:
  explicit perfetto_writer(trace_origin const& origin)
      : start_(origin.boot_nanoseconds), process_(origin.process), process_track_(start_ << 12 | 1) {
    message_bytes const process = message_bytes().number(1, id(process_)).text(6, origin.name);
    message_bytes const track = message_bytes().number(1, process_track_).message(3, process);
    packet(message_bytes().message(60, track));
  }

  void thread(traced_thread const& t) override {
    sequences_.resize(t.number + 1);
    std::uint64_t const track = process_track_ + 1 + t.number;
    message_bytes const thread = message_bytes().number(1, id(process_)).number(2, id(t.id)).text(5, t.name);
    packet(message_bytes().message(
        60, message_bytes().number(1, track).number(5, process_track_).message(4, thread)));

    // Clock 64 belongs to the sequence: each packet's time is the difference from the packet before.
    message_bytes const boot_clock = message_bytes().number(1, 6).number(2, start_);
    message_bytes const own_clock = message_bytes().number(1, 64).number(2, start_).number(3, 1);
    message_bytes const snapshot = message_bytes().message(1, boot_clock).message(1, own_clock).number(2, 6);
    message_bytes const defaults =
        message_bytes().number(58, 64).message(11, message_bytes().number(11, track));
    packet(message_bytes()
               .number(10, t.number + 1)
               .number(13, 1) // resets the state of the sequence
               .message(59, defaults)
               .message(6, snapshot));
  }

  void begin(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee,
      std::span<record const> arguments) override {
    sequence& s = sequences_[thread];
    std::uint64_t const name = name_of(callee);
    if (name >= s.known.size()) s.known.resize(name + 1);
    if (!s.known[name] || !arguments.empty())
      begin_in_full(thread, time, callee, name, arguments);
    else
      short_packet(thread, time, 1, name);
  }
  void end(std::uint32_t thread, std::uint64_t time, bool failed, record const* result) override {
    if (!failed && result == nullptr) return short_packet(thread, time, 2, 0);
    message_bytes event = message_bytes().number(9, 2);
    if (failed) event.message(4, message_bytes().text(10, "failed").number(2, 1));
    if (result != nullptr) event.message(4, annotation("result", *result));
    timed_packet(thread, time, message_bytes().message(11, event));
  }
  void lost(std::uint32_t thread, std::uint64_t time, std::uint64_t records) override {
    timed_packet(
        thread, time,
        message_bytes().message(
            11, message_bytes().number(9, 3).text(23, std::to_string(records) + " records lost")));
  }
  void finish() override {}

private:
  struct sequence {
    std::uint64_t time = 0;  // of the packet before
    std::vector<bool> known; // names interned in the sequence
  };

  static std::uint64_t id(long x) { return static_cast<std::uint64_t>(x); }

  void packet(message_bytes const& m) { text_ += message_bytes().message(1, m).bytes(); }
  void timed_packet(std::uint32_t thread, std::uint64_t time, message_bytes const& rest) {
    message_bytes m = message_bytes().number(8, step(thread, time)).number(10, thread + 1).number(13, 2);
    text_ += message_bytes().raw(1, m.bytes() + rest.bytes()).bytes();
  }
  std::uint64_t step(std::uint32_t thread, std::uint64_t time) {
    std::uint64_t const before = sequences_[thread].time;
    sequences_[thread].time = time;
    return time - before;
  }

  [[gnu::noinline]] void begin_in_full(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee, std::uint64_t name,
      std::span<record const> arguments) {
    message_bytes event = message_bytes().number(9, 1).number(10, name);
    for (record const& a : arguments) event.message(4, annotation(std::to_string(a.position()), a));
    message_bytes rest = message_bytes().message(11, event);
    if (!sequences_[thread].known[name]) {
      sequences_[thread].known[name] = true;
      rest.message(12, message_bytes().message(2, message_bytes().number(1, name).text(2, callee.name)));
    }
    timed_packet(thread, time, rest);
  }
  static message_bytes annotation(std::string_view name, record const& value) {
    message_bytes m = message_bytes().text(10, name);
    switch (value.type()) {
    case value_type::boolean:
      return m.number(2, value.first);
    case value_type::integer:
      return m.number(4, value.first);
    case value_type::natural:
      return m.number(3, value.first);
    case value_type::real:
      return m.real(5, value.first);
    case value_type::elements:
      return m.text(6, std::to_string(value.first) + " elements");
    }
    return m;
  }

  // The most frequent packet: timed_packet with type and name, written without intermediate strings.
  void short_packet(std::uint32_t thread, std::uint64_t time, unsigned char type, std::uint64_t name) {
    unsigned char packet[48];
    unsigned char* at = packet + 2;
    auto const put = [&](std::uint64_t x) {
      for (; x >= 0x80; x >>= 7) *at++ = static_cast<unsigned char>(x | 0x80);
      *at++ = static_cast<unsigned char>(x);
    };
    *at++ = 8 << 3;
    put(step(thread, time));
    *at++ = 10 << 3;
    put(thread + 1);
    *at++ = 13 << 3;
    *at++ = 2;
    *at++ = 11 << 3 | 2;
    unsigned char* const size = at++;
    *at++ = 9 << 3;
    *at++ = type;
    if (name != 0) {
      *at++ = 10 << 3;
      put(name);
    }
    *size = static_cast<unsigned char>(at - size - 1);
    packet[0] = 1 << 3 | 2;
    packet[1] = static_cast<unsigned char>(at - packet - 2);
    text_.append(reinterpret_cast<char const*>(packet), static_cast<std::size_t>(at - packet));
  }

  // Names are numbered from 1, equally in all sequences. Callees may share a name.
  std::uint64_t name_of(callee_info const& callee) {
    if (&callee == last_callee_) return last_name_;
    auto const [at, added] = callees_.try_emplace(&callee, 0);
    if (added) at->second = names_.try_emplace(callee.name, names_.size() + 1).first->second;
    last_callee_ = &callee;
    return last_name_ = at->second;
  }

  std::uint64_t start_;
  long process_;
  std::uint64_t process_track_;
  std::vector<sequence> sequences_;
  std::map<callee_info const*, std::uint64_t> callees_;
  std::map<std::string_view, std::uint64_t> names_;
  callee_info const* last_callee_ = nullptr;
  std::uint64_t last_name_ = 0;
};

} // namespace overdub::contexts::tracing
