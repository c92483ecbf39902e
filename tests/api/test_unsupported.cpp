// What the board cannot do is refused cleanly, through the loader, in every mode.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Unsupported : public ApiTest {};

TEST_F(Unsupported, given_a_board_without_kernels_when_a_module_is_built_then_the_feature_is_unsupported) {
  const std::uint8_t code = 0;
  ze_module_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  description.inputSize = 1;
  description.pInputModule = &code;
  ze_module_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeModuleCreate(context(), device(), &description, &made, nullptr));
  EXPECT_EQ(nullptr, made);
}

TEST_F(Unsupported,
       given_a_board_that_samples_nothing_when_a_sampler_is_made_then_the_feature_is_unsupported) {
  ze_sampler_desc_t sampler{};
  sampler.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  ze_sampler_handle_t made_sampler = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeSamplerCreate(context(), device(), &sampler, &made_sampler));
}

TEST_F(Unsupported,
       given_a_board_without_external_semaphores_when_one_is_imported_then_the_feature_is_unsupported) {
  ze_external_semaphore_ext_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_EXT_DESC;
  description.flags = ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD;
  ze_external_semaphore_ext_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeDeviceImportExternalSemaphoreExt(device(), &description, &made));
  EXPECT_EQ(nullptr, made);
}

TEST_F(Unsupported, given_what_cannot_be_a_module_when_a_kernel_is_made_or_launched_then_there_is_none) {
  if (mode() != Mode::single) {
    GTEST_SKIP() << "no module can be made, and something else than the driver looks at the null handle here";
  }
  ze_kernel_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
  description.pKernelName = "nothing";
  ze_kernel_handle_t kernel = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeKernelCreate(nullptr, &description, &kernel));
  EXPECT_EQ(nullptr, kernel);
  const OwnedList list = create_list(context(), device());
  const ze_group_count_t one{1, 1, 1};
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeCommandListAppendLaunchKernel(list, nullptr, &one, nullptr, 0, nullptr));
  EXPECT_NE(std::string::npos, last_error_text().find("zeCommandListAppendLaunchKernel"))
      << last_error_text();
}

TEST_F(Unsupported, given_what_is_not_built_when_called_then_the_driver_stays_usable) {
  ze_sampler_handle_t made = nullptr;
  ze_sampler_desc_t sampler{};
  sampler.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeSamplerCreate(context(), device(), &sampler, &made));
  const Bytes bytes = pattern(1000, 1);
  const OwnedMemory block = memory(MemoryKind::device, 1000);
  upload(block.get(), bytes);
  EXPECT_TRUE(same_bytes(bytes, download(block.get(), 1000)));
}

}  // namespace
}  // namespace datum::test
