// Initialisation with zeInitDrivers, the way since API 1.10.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

constexpr ze_init_driver_type_flags_t every_type = UINT32_MAX;

ze_init_driver_type_desc_t types(ze_init_driver_type_flags_t flags) {
  return {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr, flags};
}

class InitDrivers : public ApiTest {};

TEST_F(InitDrivers, given_every_type_when_initialised_then_it_gives_the_drivers_that_zeDriverGet_gives) {
  ze_init_driver_type_desc_t description = types(every_type);
  std::uint32_t count = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeInitDrivers(&count, nullptr, &description));
  ASSERT_EQ(session().drivers.size(), count);
  std::vector<ze_driver_handle_t> drivers(count);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeInitDrivers(&count, drivers.data(), &description));
  EXPECT_EQ(session().drivers, drivers);
}

TEST_F(InitDrivers,
       given_a_larger_count_when_initialised_then_it_is_corrected_and_nothing_is_written_beyond) {
  ze_init_driver_type_desc_t description = types(every_type);
  const auto untouched = reinterpret_cast<ze_driver_handle_t>(0x1234);
  std::vector<ze_driver_handle_t> drivers(session().drivers.size() + 3, untouched);
  auto count = static_cast<std::uint32_t>(drivers.size());
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeInitDrivers(&count, drivers.data(), &description));
  EXPECT_EQ(session().drivers.size(), count);
  EXPECT_EQ(untouched, drivers[count]);
}

TEST_F(InitDrivers, given_gpu_or_npu_types_when_initialised_then_the_fpga_declines_and_stays_usable) {
  for (const ze_init_driver_type_flags_t flags :
       {ze_init_driver_type_flags_t{ZE_INIT_DRIVER_TYPE_FLAG_GPU},
        ze_init_driver_type_flags_t{ZE_INIT_DRIVER_TYPE_FLAG_NPU},
        ze_init_driver_type_flags_t{ZE_INIT_DRIVER_TYPE_FLAG_GPU | ZE_INIT_DRIVER_TYPE_FLAG_NPU}}) {
    ze_init_driver_type_desc_t description = types(flags);
    std::uint32_t count = 0;
    EXPECT_EQ(ZE_RESULT_ERROR_UNINITIALIZED, zeInitDrivers(&count, nullptr, &description))
        << "flags " << flags;
    EXPECT_EQ(0U, count) << "flags " << flags;
  }
  ze_init_driver_type_desc_t description = types(every_type);
  std::uint32_t count = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeInitDrivers(&count, nullptr, &description));
  EXPECT_EQ(session().drivers.size(), count);
}

TEST_F(InitDrivers, given_unknown_type_bits_beside_known_ones_when_initialised_then_they_do_no_harm) {
  ze_init_driver_type_desc_t description = types(0xfffffff8U);
  std::uint32_t count = 0;
  const ze_result_t result = zeInitDrivers(&count, nullptr, &description);
  // Types that this API does not know are not ours, but must not be taken for a broken call.
  EXPECT_TRUE(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_UNINITIALIZED) << result_text(result);
}

TEST_F(InitDrivers, given_bad_arguments_when_initialised_then_each_has_its_code) {
  if (mode() != Mode::single && mode() != Mode::validation) {
    GTEST_SKIP() << "the loader reads the arguments itself in this mode";
  }
  ze_init_driver_type_desc_t description = types(every_type);
  ze_init_driver_type_desc_t no_type = types(0);
  std::uint32_t count = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeInitDrivers(nullptr, nullptr, &description));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeInitDrivers(&count, nullptr, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeInitDrivers(&count, nullptr, &no_type));
}

}  // namespace
}  // namespace datum::test
