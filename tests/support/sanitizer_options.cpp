// What the sanitizers must know about programs that fork on purpose. Has no effect in builds without them.

extern "C" {

[[gnu::visibility("default")]] const char* __tsan_default_options();

/// A child that initialises anew starts threads. Waiting a second at each exit for late races would take
/// longer than the tests. The driver lives until the process ends and joins nothing then, not even the thread
/// of a board that was lost.
const char* __tsan_default_options() { return "die_after_fork=0:atexit_sleep_ms=50:report_thread_leaks=0"; }

}  // extern "C"
