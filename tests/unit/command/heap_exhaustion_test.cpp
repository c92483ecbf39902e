// Each allocation of a call fails in turn: the call may fail, and the next one does what it is asked for and
// nothing that was asked before.
#include <new>

#include "driver/memory/physical_memory.hpp"
#include "driver/memory/virtual_space.hpp"
#include "tests/support/allocations.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class HeapExhaustionTest : public ModelBench {
 protected:
  template <class Work>
  static void fail_each_allocation_of(Work&& work) {
    constexpr unsigned most = 500;
    unsigned number = 1;
    for (bool failed = true; failed; ++number) {
      failed = fail_allocation(number, [&] {
        try {
          static_cast<void>(work());
        } catch (const std::bad_alloc&) {
          // the API's boundary makes OUT_OF_HOST_MEMORY of it
        }
      });
      const Status after = work();
      ASSERT_TRUE(after.ok()) << "after allocation " << number << " had failed: " << after.error().message;
      ASSERT_LT(number, most);
    }
    EXPECT_GT(number, 2U) << "it takes no memory, and nothing was tried";
  }

  static Status copy_and_synchronize(CommandList& list, void* to, const void* from, std::uint64_t bytes) {
    if (Status appended = list.append(copy(to, from, bytes), nullptr, {}); !appended) {
      return appended;
    }
    const Undisturbed wait;
    return list.synchronize(patience_ns);
  }

  /// Memory that goes when the scope ends, whatever fails.
  class Scoped {
   public:
    Scoped(Context& context, Result<void*> memory) : context_(context), memory_(std::move(memory)) {}

    ~Scoped() {
      const Undisturbed free;
      if (memory_.ok()) {
        static_cast<void>(context_.free(*memory_));
      }
    }

    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;

    [[nodiscard]] const Result<void*>& memory() const { return memory_; }

   private:
    Context& context_;
    Result<void*> memory_;
  };
};

TEST_F(HeapExhaustionTest,
       given_a_copy_to_fresh_memory_when_an_allocation_fails_then_the_next_append_submits_nothing_of_it) {
  void* from = host_memory(5000);
  Owned<CommandList> now = immediate();
  fail_each_allocation_of([&] {
    const Scoped fresh(context(), context().allocate_device(device(), 0, 9000, 0));
    return fresh.memory().ok() ? copy_and_synchronize(*now, *fresh.memory(), from, 5000)
                               : Status(fresh.memory().error());
  });
}

TEST_F(HeapExhaustionTest, given_large_host_memory_when_an_allocation_fails_then_no_addresses_are_lost) {
  fail_each_allocation_of([&] {
    const Scoped large(context(), context().allocate_host(5U << 20U, 0));
    return large.memory().ok() ? Status{} : Status(large.memory().error());
  });
}

TEST_F(HeapExhaustionTest,
       given_memory_to_be_shared_when_an_allocation_fails_then_it_is_freed_and_other_is_shared) {
  fail_each_allocation_of([&] {
    const Scoped shared(context(), context().allocate_host(5000, 0));
    if (!shared.memory().ok()) {
      return Status(shared.memory().error());
    }
    const Result<IpcHandleBytes> handle = context().export_allocation(*shared.memory());
    return handle.ok() ? Status{} : Status(handle.error());
  });
}

TEST_F(HeapExhaustionTest,
       given_a_mapped_reservation_when_an_allocation_fails_as_it_is_freed_then_it_is_freed_or_still_there) {
  constexpr std::uint64_t bytes = 4U << 20U;
  fail_each_allocation_of([&] {
    const auto free = [&](void* base) -> Status {
      try {
        return context().virtual_space().free({reinterpret_cast<std::uintptr_t>(base), bytes});
      } catch (const std::bad_alloc&) {
        return make_error(ErrorCode::out_of_host_memory, "the heap is used up");
      }
    };
    void* base = nullptr;
    PhysicalMemory* object = nullptr;
    {
      const Undisturbed before;
      base = *context().reserve_virtual(nullptr, bytes);
      object = *context().create_physical(&device(), bytes / 2);
      EXPECT_TRUE(context().map_virtual(base, bytes / 2, *object, 0, PageAccess::read_write).ok());
      EXPECT_TRUE(context().space(device()).commit().ok());
    }
    const bool freed = free(base).ok();
    const Undisturbed after;
    EXPECT_EQ(!freed, context().virtual_space().find(reinterpret_cast<std::uintptr_t>(base)).has_value());
    EXPECT_EQ(!freed, free(base).ok()) << "what was said to be there can be freed, what is gone cannot";
    EXPECT_TRUE(context().destroy_physical(*object).ok());
    return Status{};
  });
}

TEST_F(HeapExhaustionTest,
       given_a_mapping_when_an_allocation_fails_as_a_part_is_unmapped_then_all_or_nothing_is_unmapped) {
  constexpr std::uint64_t page = small_page_bytes;
  constexpr std::uint64_t bytes = 2U << 20U;
  void* const base = *context().reserve_virtual(nullptr, bytes);
  PhysicalMemory* const object = *context().create_physical(&device(), bytes);
  auto* const part = static_cast<std::byte*>(base) + 3 * page;
  const auto address = reinterpret_cast<std::uintptr_t>(part);
  fail_each_allocation_of([&] {
    {
      const Undisturbed before;
      EXPECT_TRUE(context().map_virtual(base, bytes, *object, 0, PageAccess::read_write).ok());
      EXPECT_TRUE(context().space(device()).commit().ok());
    }
    bool unmapped = false;
    try {
      unmapped = context().unmap_virtual(part, page).ok();
    } catch (const std::bad_alloc&) {
      unmapped = false;
    }
    const Undisturbed after;
    EXPECT_EQ(!unmapped, context().virtual_space().find(address).has_value());
    EXPECT_EQ(!unmapped, context().virtual_space().check_usable(device(), address, page).ok());
    if (!unmapped) {
      EXPECT_TRUE(context().unmap_virtual(part, page).ok());
    }
    EXPECT_TRUE(context().unmap_virtual(base, 3 * page).ok());
    EXPECT_TRUE(context().unmap_virtual(part + page, bytes - 4 * page).ok());
    return Status{};
  });
  EXPECT_TRUE(context().virtual_space().free({reinterpret_cast<std::uintptr_t>(base), bytes}).ok());
  EXPECT_TRUE(context().destroy_physical(*object).ok());
}

TEST_F(HeapExhaustionTest, given_a_context_with_memory_when_an_allocation_fails_as_it_ends_then_it_ends) {
  fail_each_allocation_of([&]() -> Status {
    Result<std::unique_ptr<Context>> made = Context::create(*driver_, {&device()});
    if (!made.ok()) {
      return std::move(made).error();
    }
    Result<void*> memory = (*made)->allocate_device(device(), 0, 10'000, 0);
    return memory.ok() ? Status{} : Status(std::move(memory).error());
  });
}

}  // namespace
}  // namespace datum::test
