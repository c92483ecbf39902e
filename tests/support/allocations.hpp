// What this thread takes from the heap: how often, and what happens when there is nothing left.
#pragma once

namespace datum::test {

struct AllocationState {
  bool counting = false;
  unsigned count = 0;
  unsigned failing = 0;  ///< the allocation of this number, counted from 1, has no memory; 0: none
};

inline thread_local AllocationState allocations;

/// Allocations of this thread in `work`.
template <class Work>
unsigned count_allocations(Work&& work) {
  allocations = {.counting = true};
  work();
  allocations.counting = false;
  return allocations.count;
}

/// Runs `work` with its allocation of that number, counted from 1, failing. False: it has less.
template <class Work>
bool fail_allocation(unsigned number, Work&& work) {
  allocations = {.counting = true, .failing = number};
  work();
  allocations.counting = false;
  return allocations.count >= number;
}

/// For its scope nothing fails.
class Undisturbed {
 public:
  Undisturbed() : counting_(allocations.counting) { allocations.counting = false; }

  ~Undisturbed() { allocations.counting = counting_; }

  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  bool counting_;
};

}  // namespace datum::test
