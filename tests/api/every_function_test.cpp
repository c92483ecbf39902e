// Every function of the driver that is built and takes an object, with what is no such object. The list of
// functions is the generated one, so that none can be forgotten; the driver is loaded without a loader, so
// that every call reaches it.
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <level_zero/ze_ddi_common.h>

#include "tests/support/pattern.hpp"
#include "tests/support/test_run.hpp"

namespace datum::test {
namespace {

template <class Type, class = void>
struct IsDefined : std::false_type {};

template <class Type>
struct IsDefined<Type, std::void_t<decltype(sizeof(Type))>> : std::true_type {};

/// A handle points to a structure that the headers name and never define.
template <class Type>
inline constexpr bool is_handle = std::is_pointer_v<Type>&& std::is_class_v<std::remove_pointer_t<Type>> &&
                                  !IsDefined<std::remove_pointer_t<Type>>::value;

/// Where a handle is asked for first.
enum class Takes { no_handle, context, device, another };

template <class Handle>
constexpr Takes kind_of_handle() {
  if constexpr (!is_handle<Handle>) {
    return Takes::no_handle;
  } else if constexpr (std::is_same_v<Handle, ze_context_handle_t>) {
    return Takes::context;
  } else if constexpr (std::is_same_v<Handle, ze_device_handle_t> ||
                       std::is_same_v<Handle, zes_device_handle_t>) {
    return Takes::device;
  } else {
    return Takes::another;
  }
}

/// Functions that answer with something else than a code say in their own way that a handle is none.
template <class Return, class First, class... Others>
constexpr Takes first_argument(Return (*)(First, Others...)) {
  return std::is_same_v<Return, ze_result_t> ? kind_of_handle<First>() : Takes::no_handle;
}

/// Calls with `handle` and otherwise zeros.
template <class Return, class First, class... Others>
ze_result_t call_with(Return (*function)(First, Others...), std::uintptr_t handle) {
  if constexpr (is_handle<First> && std::is_same_v<Return, ze_result_t>) {
    return function(reinterpret_cast<First>(handle), Others{}...);
  } else {
    return ZE_RESULT_ERROR_UNKNOWN;
  }
}

struct Function {
  const char* name;
  Takes takes;
  ze_result_t (*call)(const void* table, std::uintptr_t handle);
  const char* getter;
};

template <class Table, auto member>
constexpr Function describe(const char* name, const char* getter) {
  using Pointer = std::remove_cvref_t<decltype(std::declval<Table>().*member)>;
  return {name, first_argument(Pointer{}),
          [](const void* table, std::uintptr_t handle) {
            return call_with(static_cast<const Table*>(table)->*member, handle);
          },
          getter};
}

template <bool built, class Table, auto member>
void add(std::vector<Function>& functions, const char* name, const char* getter) {
  if constexpr (built) {
    constexpr Takes takes = describe<Table, member>("", "").takes;
    if (takes != Takes::no_handle) {
      functions.push_back(describe<Table, member>(name, getter));
    }
  }
}

std::vector<Function> functions_with_handles() {
  std::vector<Function> functions;
#define DATUM_API_TABLE(getter, type)
#define DATUM_API_ENTRY(getter, type, member, function, since, built)                                        \
  add<built == 1, type, &type::member>(functions, #function, #getter);
#include "tests/loader/entry_list.inc"
#undef DATUM_API_ENTRY
#undef DATUM_API_TABLE
  return functions;
}

class EveryFunction : public ::testing::Test {
 protected:
  void SetUp() override {
    driver_file_ = ::dlopen(DATUM_DRIVER_FILE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(nullptr, driver_file_) << ::dlerror();
    const auto global = table<ze_global_dditable_t>("zeGetGlobalProcAddrTable");
    const auto drivers = table<ze_driver_dditable_t>("zeGetDriverProcAddrTable");
    const auto devices = table<ze_device_dditable_t>("zeGetDeviceProcAddrTable");
    contexts_ = table<ze_context_dditable_t>("zeGetContextProcAddrTable");
    ASSERT_EQ(ZE_RESULT_SUCCESS, global.pfnInit(0));
    std::uint32_t count = 1;
    ASSERT_EQ(ZE_RESULT_SUCCESS, drivers.pfnGet(&count, &driver_));
    ASSERT_EQ(ZE_RESULT_SUCCESS, devices.pfnGet(driver_, &count, &device_));
    context_ = make_context();
  }

  void TearDown() override {
    if (context_ != nullptr) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, contexts_.pfnDestroy(context_)) << "the bad calls left it as it was";
    }
  }

  template <class Table>
  [[nodiscard]] Table table(const char* getter) const {
    Table filled{};
    using Getter = ze_result_t (*)(ze_api_version_t, Table*);
    const auto fill = reinterpret_cast<Getter>(::dlsym(driver_file_, getter));
    EXPECT_NE(nullptr, fill) << getter;
    if (fill != nullptr) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, fill(ZE_API_VERSION_CURRENT, &filled)) << getter;
    }
    return filled;
  }

  [[nodiscard]] ze_context_handle_t make_context() const {
    const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ze_context_handle_t made = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, contexts_.pfnCreate(driver_, &description, &made));
    return made;
  }

  /// Every getter fills a table of its own type, and here all are called alike, as a loader's generated code
  /// would.
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  void
  expect_refused(const Function& function, const void* handle) const {
    // Room for the largest table; what a table does not have stays zero.
    std::vector<std::uintptr_t> words(256);
    using Getter = ze_result_t (*)(ze_api_version_t, void*);
    const auto fill = reinterpret_cast<Getter>(::dlsym(driver_file_, function.getter));
    ASSERT_EQ(ZE_RESULT_SUCCESS, fill(ZE_API_VERSION_CURRENT, words.data()));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
              function.call(words.data(), reinterpret_cast<std::uintptr_t>(handle)))
        << function.name << " with " << handle;
  }

  void* driver_file_ = nullptr;
  ze_context_dditable_t contexts_{};
  ze_driver_handle_t driver_ = nullptr;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;
};

TEST_F(EveryFunction, given_the_generated_list_when_counted_then_nearly_all_functions_take_a_handle) {
  EXPECT_GT(functions_with_handles().size(), 90U);
}

TEST_F(EveryFunction, given_a_null_handle_when_called_then_it_is_named) {
  for (const Function& function : functions_with_handles()) {
    expect_refused(function, nullptr);
  }
}

TEST_F(EveryFunction, given_bits_that_are_no_handle_when_called_then_they_are_refused) {
  Random random(test_seed());
  const std::vector<std::uint64_t> ordinary_memory(64);
  std::vector<const void*> bits{reinterpret_cast<const void*>(1), reinterpret_cast<const void*>(0xdeadbeef),
                                reinterpret_cast<const void*>(~std::uintptr_t{0}),
                                reinterpret_cast<const void*>(0x8000000000000000ULL), ordinary_memory.data()};
  for (int i = 0; i < 20; ++i) {
    bits.push_back(reinterpret_cast<const void*>(random.next() >> random.below(40)));
  }
  for (const Function& function : functions_with_handles()) {
    for (const void* const handle : bits) {
      expect_refused(function, handle);
    }
  }
}

TEST_F(EveryFunction, given_a_live_handle_of_another_kind_when_called_then_it_is_refused) {
  for (const Function& function : functions_with_handles()) {
    if (function.takes != Takes::context) {
      expect_refused(function, context_);
    }
    if (function.takes != Takes::device) {
      expect_refused(function, device_);
    }
  }
}

TEST_F(EveryFunction, given_the_handle_of_a_destroyed_object_when_called_then_it_is_refused) {
  const ze_context_handle_t destroyed = make_context();
  ASSERT_EQ(ZE_RESULT_SUCCESS, contexts_.pfnDestroy(destroyed));
  for (const Function& function : functions_with_handles()) {
    expect_refused(function, destroyed);
  }
}

}  // namespace
}  // namespace datum::test
