// The bias and the read-only flag of an allocation in the leaves of page tables, wherever the memory goes.
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/exported_memory.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/sizes.hpp"
#include "tests/unit/memory/table_walk.hpp"

namespace datum {
namespace {

constexpr PageRights all_rights[] = {{true, 0}, {true, 1}, {true, 2}, {true, 4}, {false, 0}, {false, 2}};

class PageRightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::unique_ptr<Board>> boards;
    boards.push_back(test::open_model("memory=16M"));
    boards.push_back(test::open_model("memory=16M"));
    driver_ = std::move(*Driver::create(std::move(boards)));
    context_ = std::move(*Context::create(*driver_, {&device(0), &device(1)}));
  }

  Device& device(unsigned index = 0) { return *driver_->devices()[index]; }

  /// What the board's tables say of the page at `pointer`, everything committed.
  PageRights seen_by(Device& of, const void* pointer) {
    AddressSpace& space = context_->space(of);
    EXPECT_TRUE(space.commit().ok());
    const auto leaf = test::find_leaf(of.board(), space.number(), reinterpret_cast<std::uintptr_t>(pointer));
    EXPECT_TRUE(leaf.has_value());
    return leaf ? PageRights{leaf->entry.writable(), leaf->entry.cache_policy()} : PageRights{};
  }

  void expect_everywhere(const void* pointer, PageRights rights) {
    for (unsigned board = 0; board < 2; ++board) {
      const PageRights seen = seen_by(device(board), pointer);
      EXPECT_EQ(rights.writable, seen.writable) << "board " << board;
      EXPECT_EQ(rights.cache_policy, seen.cache_policy) << "board " << board;
    }
  }

  Result<void*> open(const IpcHandleBytes& bytes) {
    Result<OpenedFile> file = open_shared_file(*decode_ipc_handle(bytes));
    if (!file.ok()) {
      return std::move(file).error();
    }
    return context_->import_file(device(), file->fd.get(), file->identity, file->size_bytes, file->rights);
  }

  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Context> context_;
};

TEST_F(PageRightsTest, given_host_memory_when_it_is_exported_then_its_leaves_stay_what_they_were) {
  for (const PageRights rights : all_rights) {
    for (const std::uint64_t bytes : {std::uint64_t{5000}, 3 * mib}) {
      void* const pointer = *context_->allocate_host(bytes, 0, rights);
      expect_everywhere(pointer, rights);
      ASSERT_TRUE(context_->export_allocation(pointer).ok());
      expect_everywhere(pointer, rights);
      EXPECT_TRUE(context_->free(pointer).ok());
    }
  }
}

TEST_F(PageRightsTest, given_shared_memory_then_its_leaves_are_what_was_asked_for) {
  for (const PageRights rights : all_rights) {
    void* const pointer = *context_->allocate_shared(nullptr, 5000, 0, rights);
    expect_everywhere(pointer, rights);
    EXPECT_TRUE(context_->free(pointer).ok());
  }
}

TEST_F(PageRightsTest, given_system_memory_when_imported_then_its_leaves_are_what_was_asked_for) {
  alignas(4096) static std::byte memory[3 * 4096];
  for (const PageRights rights : all_rights) {
    void* const pointer = *context_->import_system_memory(memory, sizeof(memory), rights);
    EXPECT_EQ(pointer, memory);
    expect_everywhere(memory + 2 * 4096, rights);
    EXPECT_TRUE(context_->free(pointer).ok());
  }
}

TEST_F(PageRightsTest, given_a_handle_when_opened_then_the_exporters_rights_come_with_it) {
  for (const PageRights rights : all_rights) {
    void* const made = *context_->allocate_host(5000, 0, rights);
    void* const opened = *open(*context_->export_allocation(made));
    expect_everywhere(opened, rights);
    EXPECT_TRUE(context_->close_imported(opened).ok());
    EXPECT_TRUE(context_->free(made).ok());
  }
}

TEST_F(PageRightsTest, given_device_memory_with_a_bias_when_its_handle_is_opened_then_the_bias_is_there_too) {
  for (const std::uint64_t bytes : {std::uint64_t{100}, 3 * mib}) {
    void* const made = *context_->allocate_device(device(), 0, bytes, 0, 2);
    void* const opened = *open(*context_->export_allocation(made));
    EXPECT_EQ(2U, seen_by(device(), made).cache_policy);
    EXPECT_EQ(2U, seen_by(device(), opened).cache_policy);
    EXPECT_TRUE(context_->close_imported(opened).ok());
    EXPECT_TRUE(context_->free(made).ok());
  }
}

TEST_F(PageRightsTest,
       given_a_freed_page_with_a_bias_when_it_is_used_again_then_its_handle_has_the_new_bias) {
  ASSERT_TRUE(context_->free(*context_->allocate_device(device(), 0, 100, 0, 1)).ok());
  void* const made = *context_->allocate_device(device(), 0, 100, 0, 2);
  EXPECT_EQ(2U, decode_ipc_handle(*context_->export_allocation(made))->hints->rights.cache_policy);
  EXPECT_TRUE(context_->free(made).ok());
}

TEST_F(PageRightsTest, given_only_a_descriptor_when_opened_then_the_rights_are_the_usual_ones) {
  void* const made = *context_->allocate_host(5000, 0, {.writable = false, .cache_policy = 2});
  const IpcHandle handle = *decode_ipc_handle(*context_->export_allocation(made));
  void* const opened = *open(encode({handle.fd, std::nullopt}));
  expect_everywhere(opened, PageRights{});
  EXPECT_TRUE(context_->close_imported(opened).ok());
  EXPECT_TRUE(context_->free(made).ok());
}

TEST_F(PageRightsTest, given_external_memory_when_imported_then_the_rights_are_those_of_the_importer) {
  constexpr ExternalTypes opaque{.opaque = true};
  void* const made =
      *context_->make_exportable(context_->allocate_host(5000, 0, {.cache_policy = 1}), opaque);
  const int fd = *driver_->exports().descriptor(context_->find(made)->id, ExternalType::opaque);
  for (const PageRights rights : all_rights) {
    void* const taken = *context_->import_external(nullptr, fd, opaque, 5000, 0, rights);
    expect_everywhere(taken, rights);
    EXPECT_TRUE(context_->free(taken).ok());
  }
  expect_everywhere(made, {true, 1});
  EXPECT_TRUE(context_->free(made).ok());
}

TEST_F(PageRightsTest, given_device_memory_with_a_bias_when_another_board_sees_it_then_with_that_bias) {
  if (!device(1).can_access(device(0))) {
    GTEST_SKIP() << "the boards do not reach one another";
  }
  void* const made = *context_->allocate_device(device(), 0, 5000, 0, 2);
  const Result<Pin> reached = context_->make_accessible(device(1), made, 5000, board::DmaAccess::read_write);
  ASSERT_TRUE(reached.ok()) << reached.error().message;
  expect_everywhere(made, {true, 2});
  EXPECT_TRUE(context_->free(made).ok());
}

}  // namespace
}  // namespace datum
