// An image: device memory with a layout and a format. The board copies images and never interprets them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include <datum/base/result.hpp>

#include "driver/object/handle_table.hpp"
#include "driver/object/image_layout.hpp"

namespace datum {

class Context;
class Device;

/// The API's numbers; compared, never interpreted.
struct ImageFormat {
  std::uint32_t layout = 0;
  std::uint32_t type = 0;
  std::array<std::uint32_t, 4> swizzle{};

  friend bool operator==(const ImageFormat&, const ImageFormat&) = default;
};

/// Keeps its context alive as a child. Thread safe, except that one thread destroys it.
class Image {
 public:
  /// out_of_device_memory.
  static Result<Image*> create(Context& context, Device& device, const ImageLayout& layout,
                               const ImageFormat& format);
  /// Over memory that the application has allocated on `device` and goes on to own. invalid_argument: `base`
  /// and the layout's bytes are not inside one live allocation of the context there.
  static Result<Image*> create_on(Context& context, Device& device, const ImageLayout& layout,
                                  const ImageFormat& format, void* base);
  /// The memory of `of` under another format with elements of the same size. Disabled once `of` is destroyed.
  static Result<Image*> view(Image& of, const ImageFormat& format);
  /// Frees the memory of an image; commands in flight may still use it, as with Context::free.
  void destroy();

  [[nodiscard]] Context& context() noexcept { return context_; }

  [[nodiscard]] Device& device() noexcept { return device_; }

  [[nodiscard]] const ImageLayout& layout() const noexcept { return layout_; }

  [[nodiscard]] const ImageFormat& format() const noexcept { return format_; }

  /// The first byte of the first element; null when the image of a view is gone.
  [[nodiscard]] void* first_byte() const noexcept { return memory_->base.load(std::memory_order_acquire); }

  /// Unique in the process; that of the image for a view.
  [[nodiscard]] std::uint64_t allocation_id() const noexcept { return memory_->allocation_id; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

 private:
  /// Outlives the image as long as there are views.
  struct Memory {
    std::atomic<void*> base{nullptr};
    std::uint64_t allocation_id = 0;
    bool of_application = false;  ///< which frees it
  };

  Image(Context& context, Device& device, const ImageLayout& layout, const ImageFormat& format,
        std::shared_ptr<Memory> memory, bool owner);
  friend std::default_delete<Image>;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image();
  static Result<Image*> publish(std::unique_ptr<Image> image);

  Context& context_;
  Device& device_;
  ImageLayout layout_;
  ImageFormat format_;
  std::shared_ptr<Memory> memory_;
  bool owner_;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
