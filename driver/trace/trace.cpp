#include "driver/trace/trace.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <datum/base/mutex.hpp>

#include "driver/trace/buffer.hpp"
#include "driver/trace/names.hpp"
#include "driver/trace/timeline.hpp"

namespace datum::trace {

constinit std::atomic<bool> is_on{false};

namespace {

constexpr const char* file_variable = "DATUM_TRACE";
constexpr const char* size_variable = "DATUM_TRACE_EVENTS";
constexpr std::size_t default_events = 256UL * 1024;  // 32 MiB, used only as events come
constexpr std::size_t least_events = 1024;
constexpr std::size_t most_events = 64UL * 1024 * 1024;

/// Of this process, or of the parent that it was forked from. Never destroyed: threads may still run at exit.
struct State {
  Mutex mutex;
  Buffer buffer;
  Names names;
  std::array<char, 4096> path DATUM_GUARDED_BY(mutex){};
  std::atomic<pid_t> owner{0};
  std::atomic<std::uint64_t> calls{0};
};

State& state() noexcept {
  alignas(State) static constinit std::byte memory[sizeof(State)]{};
  static State* const made = new (memory) State;
  return *made;
}

constinit thread_local std::uint64_t call_of_thread = 0;
constinit thread_local std::uint32_t thread_number = 0;
constinit thread_local pid_t thread_owner = 0;

/// Also gives the thread its name in the timeline, at its first event.
std::uint32_t this_thread() noexcept {
  State& all = state();
  const pid_t owner = all.owner.load(std::memory_order_relaxed);
  if (thread_owner != owner) {
    thread_owner = owner;
    thread_number = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    std::array<char, 16> name{};
    static_cast<void>(::pthread_getname_np(::pthread_self(), name.data(), name.size()));
    all.names.add_thread(thread_number, name.data());
  }
  return thread_number;
}

Event event_of(Kind kind, const char* name, std::uint64_t begin_ns, std::uint64_t end_ns,
               std::initializer_list<std::uint64_t> words) noexcept {
  Event event{};
  event.kind = kind;
  event.name = name;
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  event.thread = this_thread();
  event.word_count = static_cast<std::uint32_t>(std::min(words.size(), event.words.size()));
  std::copy_n(words.begin(), event.word_count, event.words.begin());
  return event;
}

/// `%p` becomes the number of the process; so does a suffix in a child of a process that is traced already.
bool expand_path(const char* wanted, bool is_child, std::array<char, 4096>& path) {
  std::string expanded = wanted;
  const std::string process = std::to_string(::getpid());
  bool distinct = false;
  for (std::size_t at = expanded.find("%p"); at != std::string::npos; at = expanded.find("%p", at)) {
    expanded.replace(at, 2, process);
    distinct = true;
  }
  if (is_child && !distinct) {
    expanded += "." + process;
  }
  if (expanded.size() >= path.size()) {
    return false;
  }
  std::memcpy(path.data(), expanded.c_str(), expanded.size() + 1);
  return true;
}

std::size_t wanted_events() {
  const char* const text = std::getenv(size_variable);
  if (text == nullptr) {
    return default_events;
  }
  std::size_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || stop != end || number < least_events || number > most_events) {
    std::fprintf(stderr, "datum: %s is '%.32s', which is not a number from %zu to %zu; %zu are kept\n",
                 size_variable, text, least_events, most_events, default_events);
    return default_events;
  }
  return number;
}

/// Opened early, so that a mistake is told before the work and not after it.
bool can_write(const char* path) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) {
    std::fprintf(stderr, "datum: %s names '%.200s', which cannot be written: %s; there is no trace\n",
                 file_variable, path, std::strerror(errno));
    return false;
  }
  std::fclose(file);
  return true;
}

}  // namespace

std::uint64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

void start_if_wanted() noexcept try {
  const char* const wanted = std::getenv(file_variable);
  if (wanted == nullptr || *wanted == '\0') {
    return;
  }
  State& all = state();
  const pid_t before = all.owner.load(std::memory_order_relaxed);
  if (before == ::getpid()) {
    return;
  }
  const ScopedLock lock(all.mutex);
  if (all.owner.load(std::memory_order_relaxed) == ::getpid()) {
    return;
  }
  const bool is_child = before != 0;
  is_on.store(false, std::memory_order_relaxed);
  all.owner.store(::getpid(), std::memory_order_relaxed);
  if (!expand_path(wanted, is_child, all.path) || !can_write(all.path.data())) {
    return;
  }
  if (!all.buffer.allocated() && !all.buffer.allocate(wanted_events())) {
    std::fprintf(stderr, "datum: no address space is left for a trace\n");
    return;
  }
  all.buffer.clear();
  all.names.clear();
  is_on.store(true, std::memory_order_release);

} catch (...) {

  is_on.store(false, std::memory_order_relaxed);
}

/// Not by atexit: what is registered there is called before the static destructors of an application that may
/// still call the driver. Children of a fork have it, too.
[[gnu::destructor]] void write_at_exit() noexcept { finish(); }

void finish() noexcept try {
  if (!on()) {
    return;
  }
  State& all = state();
  const ScopedLock lock(all.mutex);
  if (!on() || all.owner.load(std::memory_order_relaxed) != ::getpid()) {
    return;
  }
  is_on.store(false, std::memory_order_relaxed);
  std::FILE* const file = std::fopen(all.path.data(), "w");
  const bool written =
      file != nullptr && write_timeline(file, all.buffer.whole(), all.names, all.buffer.lost(), ::getpid());
  if (file == nullptr || std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "datum: the trace '%.200s' could not be written: %s\n", all.path.data(),
                 std::strerror(errno));
  }

} catch (...) {

  std::fprintf(stderr, "datum: no memory was left to write the trace\n");
}

std::uint64_t current_call() noexcept { return call_of_thread; }

void note(Kind kind, const char* name, std::uint8_t board, std::uint16_t ring,
          std::initializer_list<std::uint64_t> words, std::uint64_t id) noexcept {
  const std::uint64_t now = now_ns();
  Event event = event_of(kind, name, now, now, words);
  event.board = board;
  event.ring = ring;
  event.id = id;
  state().buffer.add(event);
}

void note_span(Kind kind, const char* name, std::uint64_t begin_ns, std::uint8_t board,
               std::initializer_list<std::uint64_t> words) noexcept {
  Event event = event_of(kind, name, begin_ns, now_ns(), words);
  event.board = board;
  state().buffer.add(event);
}

std::uint8_t note_board(std::string_view address) noexcept { return state().names.add_board(address); }

Call::Call(const char* signature, std::initializer_list<std::uint64_t> arguments) noexcept
    : signature_(signature),
      begin_ns_(now_ns()),
      number_(state().calls.fetch_add(1, std::memory_order_relaxed) + 1),
      outer_(call_of_thread),
      count_(static_cast<std::uint32_t>(std::min(arguments.size(), std::tuple_size_v<decltype(words_)>))) {
  std::copy_n(arguments.begin(), count_, words_.begin());
  call_of_thread = number_;
}

Call::~Call() {
  call_of_thread = outer_;
  if (!on()) {
    return;
  }
  Event event = event_of(Kind::api_call, signature_, begin_ns_, now_ns(), {});
  event.id = number_;
  event.result = result_;
  event.word_count = count_;
  event.words = words_;
  state().buffer.add(event);
}

}  // namespace datum::trace
