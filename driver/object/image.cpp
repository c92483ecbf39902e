#include "driver/object/image.hpp"

#include <utility>

#include <fmt/format.h>

#include "driver/object/context.hpp"

namespace datum {

Image::Image(Context& context, Device& device, const ImageLayout& layout, const ImageFormat& format,
             std::shared_ptr<Memory> memory, bool owner)
    : context_(context),
      device_(device),
      layout_(layout),
      format_(format),
      memory_(std::move(memory)),
      owner_(owner) {
  context_.add_child();
}

Image::~Image() {
  void* const base = owner_ ? memory_->base.exchange(nullptr, std::memory_order_acq_rel) : nullptr;
  if (base != nullptr && !memory_->of_application) {
    static_cast<void>(context_.free(base));  // an application that freed the pointer itself has had its will
  }
  context_.remove_child();
}

Result<Image*> Image::publish(std::unique_ptr<Image> image) {
  Result<HandleSlot*> handle = register_handle(ObjectType::image, image.get());
  if (!handle) {
    return std::move(handle).error();
  }
  image->handle_ = *handle;
  return image.release();
}

Result<Image*> Image::create(Context& context, Device& device, const ImageLayout& layout,
                             const ImageFormat& format) {
  std::unique_ptr<Image> image(new Image(context, device, layout, format, std::make_shared<Memory>(), true));
  Result<void*> base = context.allocate_device(device, 0, layout.bytes(), 0);
  if (!base) {
    return std::move(base).error();
  }
  image->memory_->base.store(*base, std::memory_order_release);
  if (const std::optional<Allocation> allocation = context.find(*base)) {
    image->memory_->allocation_id = allocation->id;
  }
  return publish(std::move(image));
}

Result<Image*> Image::create_on(Context& context, Device& device, const ImageLayout& layout,
                                const ImageFormat& format, void* base) {
  const std::optional<Allocation> allocation = context.find(base);
  const std::uint64_t offset = allocation ? reinterpret_cast<std::uintptr_t>(base) - allocation->base : 0;
  if (!allocation || allocation->kind != AllocationKind::device || allocation->device != &device ||
      layout.bytes() > allocation->size_bytes - offset) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("an image of {} bytes does not fit on {}: it has to lie in memory of its "
                                  "device and context",
                                  layout.bytes(), base));
  }
  std::unique_ptr<Image> image(new Image(context, device, layout, format, std::make_shared<Memory>(), true));
  image->memory_->allocation_id = allocation->id;
  image->memory_->of_application = true;
  image->memory_->base.store(base, std::memory_order_release);
  return publish(std::move(image));
}

Result<Image*> Image::view(Image& of, const ImageFormat& format) {
  return publish(
      std::unique_ptr<Image>(new Image(of.context_, of.device_, of.layout_, format, of.memory_, false)));
}

void Image::destroy() {
  if (unregister_handle(handle_)) {
    delete this;
  }
}

}  // namespace datum
