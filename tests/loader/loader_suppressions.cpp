// Faults of the stock loader that a sanitizer would report in every program that goes through it. Linked into
// such programs.
//
// The loader never frees what it knows about its drivers, and when two of its init functions run at once they
// copy the same tables without a lock. Neither rule hides anything of the driver: calls reach it by a jump,
// which leaves no frame of the loader.

extern "C" {

[[gnu::visibility("default")]] const char* __lsan_default_suppressions();
[[gnu::visibility("default")]] const char* __lsan_default_options();
[[gnu::visibility("default")]] const char* __tsan_default_suppressions();

const char* __lsan_default_suppressions() { return "leak:libze_loader.so\n"; }

const char* __lsan_default_options() { return "print_suppressions=0"; }

const char* __tsan_default_suppressions() { return "called_from_lib:libze_loader.so\n"; }

}  // extern "C"
