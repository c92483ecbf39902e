// Threads of Datum's own inside somebody else's process: a simulated board's, a worker of the driver.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <string_view>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

namespace datum {

/// In a thread that starts one of ours: for the scope, so that the new thread inherits it, every signal is
/// blocked. None of the application's handlers shall run on a thread that it does not know, nor may a signal
/// be taken that its threads have blocked to wait for it.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

/// Called by a thread of ours when it begins, whichever library it is from: names it "datum-", `kind` and its
/// number. The number tells it from threads of the application that begin in a function of the application's
/// which it calls, and inherit the name.
inline void name_service_thread(char kind) noexcept {
  std::array<char, 16> name{};  // what the kernel keeps
  std::snprintf(name.data(), name.size(), "datum-%c%d", kind, ::gettid());
  pthread_setname_np(pthread_self(), name.data());
}

namespace service_thread_detail {

/// The beginning of a small file below /proc; empty where it cannot be read.
template <std::size_t Size>
std::string_view read_file(const char* path, std::array<char, Size>& buffer) noexcept {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t count = file.valid() ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

/// The first thread has ended, and the process goes on because there are others.
inline bool first_thread_has_ended() noexcept {
  std::array<char, 128> buffer{};
  const std::string_view text = read_file("/proc/self/stat", buffer);
  const auto name_end = text.rfind(')');
  return name_end != std::string_view::npos && text.substr(name_end).starts_with(") Z");
}

inline bool is_service_thread(const char* id) noexcept {
  std::array<char, 64> path{};
  std::array<char, 32> buffer{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%.20s/comm", id);
  const std::string_view name = read_file(path.data(), buffer);
  constexpr std::string_view prefix = "datum-";
  const std::size_t number = prefix.size() + 1;
  return name.starts_with(prefix) && name.size() > number &&
         name.substr(number, name.find('\n') - number) == id;
}

/// Runs in a thread of its own that blocks nothing: what has been sent to the process meanwhile arrives here.
inline void* end_the_process(void*) {
  pthread_setname_np(pthread_self(), "exit");
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::exit(0);
}

}  // namespace service_thread_detail

/// No thread is left but ours: the application left main by pthread_exit and its other threads have ended,
/// too. False where /proc does not tell.
[[nodiscard]] inline bool only_service_threads_left() noexcept {
  if (!service_thread_detail::first_thread_has_ended()) {
    return false;
  }
  DIR* threads = ::opendir("/proc/self/task");
  if (threads == nullptr) {
    return false;
  }
  const long first = ::getpid();
  bool others = false;
  bool any = false;
  while (const dirent* entry = ::readdir(threads)) {
    if (entry->d_name[0] == '.' || std::strtol(entry->d_name, nullptr, 10) == first) {
      continue;
    }
    any = true;
    others = others || !service_thread_detail::is_service_thread(entry->d_name);
  }
  ::closedir(threads);
  return any && !others;
}

/// What the C library does when the last thread of a process ends. In a thread of its own, since functions
/// that were registered with atexit may need what ours do. Once for each library.
inline void end_process_as_its_last_thread() noexcept {
  static constinit std::atomic<bool> begun{false};
  if (begun.exchange(true)) {
    return;
  }
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, service_thread_detail::end_the_process, nullptr) == 0) {
    pthread_detach(thread);
  } else {
    begun.store(false);
  }
}

/// Ends the process when nobody is left to work for, as it would end if there were no threads of ours. Used
/// by one of our threads.
class ApplicationWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// A thread that has nothing to do wakes this often to look.
  static constexpr std::chrono::milliseconds interval{500};

  /// `patience`: looks in a row that must find nobody. Differs between the libraries, so that one of them
  /// ends the process.
  explicit ApplicationWatch(unsigned patience) noexcept : patience_(patience) {}

  /// Looks at most once in `interval`, otherwise costs a reading of the clock.
  void look() noexcept {
    const auto now = Clock::now();
    if (now < next_look_) {
      return;
    }
    next_look_ = now + interval;
    looks_without_it_ = only_service_threads_left() ? looks_without_it_ + 1 : 0;
    if (looks_without_it_ >= patience_) {
      end_process_as_its_last_thread();
    }
  }

 private:
  unsigned patience_;
  Clock::time_point next_look_ = Clock::now() + interval;
  unsigned looks_without_it_ = 0;
};

}  // namespace datum
