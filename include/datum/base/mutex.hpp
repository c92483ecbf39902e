// Locks that clang checks at compile time (-Wthread-safety): data says which lock it is under, a function
// which one it needs. They are those of the C++ library otherwise, call for call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#ifdef __clang__
#define DATUM_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define DATUM_THREAD_SAFETY(attribute)
#endif

/// A class of objects that can be held.
#define DATUM_LOCKABLE DATUM_THREAD_SAFETY(capability("mutex"))
/// A class of objects that hold a lock as long as they live.
#define DATUM_LOCK_SCOPE DATUM_THREAD_SAFETY(scoped_lockable)
/// Data that is used only under the lock; the second is about what a pointer points to.
#define DATUM_GUARDED_BY(lock) DATUM_THREAD_SAFETY(guarded_by(lock))
#define DATUM_POINTEE_GUARDED_BY(lock) DATUM_THREAD_SAFETY(pt_guarded_by(lock))
/// Functions that are called only with the locks held (by somebody who may be one of several, for the
/// second), or only without.
#define DATUM_REQUIRES(...) DATUM_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define DATUM_REQUIRES_SHARED(...) DATUM_THREAD_SAFETY(requires_shared_capability(__VA_ARGS__))
#define DATUM_EXCLUDES(...) DATUM_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
/// Functions that return with the lock held, or without it.
#define DATUM_ACQUIRES(...) DATUM_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define DATUM_ACQUIRES_SHARED(...) DATUM_THREAD_SAFETY(acquire_shared_capability(__VA_ARGS__))
#define DATUM_RELEASES(...) DATUM_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define DATUM_RELEASES_SHARED(...) DATUM_THREAD_SAFETY(release_shared_capability(__VA_ARGS__))
#define DATUM_RELEASES_EITHER(...) DATUM_THREAD_SAFETY(release_generic_capability(__VA_ARGS__))
#define DATUM_TRIES_TO_ACQUIRE(...) DATUM_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define DATUM_ASSERTS_HELD(...) DATUM_THREAD_SAFETY(assert_capability(__VA_ARGS__))
#define DATUM_RETURNS(lock) DATUM_THREAD_SAFETY(lock_returned(lock))
/// A function whose locking clang cannot follow; a comment says why it is right.
#define DATUM_NOT_CHECKED DATUM_THREAD_SAFETY(no_thread_safety_analysis)

namespace datum {

class DATUM_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() = default;

  void lock() DATUM_ACQUIRES() { mutex_.lock(); }

  [[nodiscard]] bool try_lock() DATUM_TRIES_TO_ACQUIRE(true) { return mutex_.try_lock(); }

  void unlock() DATUM_RELEASES() { mutex_.unlock(); }

  /// For the body of a function object that is only called with the lock held.
  void assert_held() const noexcept DATUM_ASSERTS_HELD() {}

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

class DATUM_LOCKABLE SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  ~SharedMutex() = default;

  void lock() DATUM_ACQUIRES() { mutex_.lock(); }

  void unlock() DATUM_RELEASES() { mutex_.unlock(); }

  void lock_shared() DATUM_ACQUIRES_SHARED() { mutex_.lock_shared(); }

  void unlock_shared() DATUM_RELEASES_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

/// Holds the lock to the end of the scope.
template <class AnyMutex>
class DATUM_LOCK_SCOPE ScopedLock {
 public:
  explicit ScopedLock(AnyMutex& mutex) DATUM_ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }

  ~ScopedLock() DATUM_RELEASES() { mutex_.unlock(); }

  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;

 private:
  AnyMutex& mutex_;
};

/// Holds the lock with others to the end of the scope.
template <class AnyMutex>
class DATUM_LOCK_SCOPE SharedScopedLock {
 public:
  explicit SharedScopedLock(AnyMutex& mutex) DATUM_ACQUIRES_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }

  ~SharedScopedLock() DATUM_RELEASES_EITHER() { mutex_.unlock_shared(); }

  SharedScopedLock(const SharedScopedLock&) = delete;
  SharedScopedLock& operator=(const SharedScopedLock&) = delete;

 private:
  AnyMutex& mutex_;
};

/// Holds the lock to the end of the scope, and may let go of it before and take it again.
template <class AnyMutex>
class DATUM_LOCK_SCOPE UniqueLock {
 public:
  explicit UniqueLock(AnyMutex& mutex) DATUM_ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }

  ~UniqueLock() DATUM_RELEASES() {
    if (held_) {
      mutex_.unlock();
    }
  }

  UniqueLock(const UniqueLock&) = delete;
  UniqueLock& operator=(const UniqueLock&) = delete;

  void lock() DATUM_ACQUIRES() {
    mutex_.lock();
    held_ = true;
  }

  void unlock() DATUM_RELEASES() {
    held_ = false;
    mutex_.unlock();
  }

 private:
  AnyMutex& mutex_;
  bool held_ = true;
};

/// Lets go of a lock that is held and takes it again at the end of the scope, in whichever way that comes.
template <class AnyMutex>
class DATUM_LOCK_SCOPE ScopedUnlock {
 public:
  explicit ScopedUnlock(AnyMutex& mutex) DATUM_RELEASES(mutex) : mutex_(mutex) { mutex_.unlock(); }

  ~ScopedUnlock() DATUM_RELEASES() { mutex_.lock(); }

  ScopedUnlock(const ScopedUnlock&) = delete;
  ScopedUnlock& operator=(const ScopedUnlock&) = delete;

 private:
  AnyMutex& mutex_;
};

/// Waits with a Mutex that is held, before and after. Who waits asks for its condition in a loop: clang
/// cannot see in a function object that the lock is held.
class ConditionVariable {
 public:
  void wait(Mutex& mutex) DATUM_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  /// False: the time came first.
  template <class Clock, class Duration>
  bool wait_until(Mutex& mutex, const std::chrono::time_point<Clock, Duration>& time) DATUM_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_until(lock, time);
    lock.release();
    return status == std::cv_status::no_timeout;
  }

  void notify_one() noexcept { condition_.notify_one(); }

  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace datum
