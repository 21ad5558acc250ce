// Intrusive reference counting, for objects whose owners cannot be told in advance: calls, host
// pools.
#ifndef WEFT_LIB_BASE_REF_H_
#define WEFT_LIB_BASE_REF_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::inline v0::base {

// Starts with one reference, which MakeRef or the creator takes over.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void Retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // Whether the caller holds the only reference.
  bool unique() const { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  RefCounted() = default;
  virtual ~RefCounted() = default;

 private:
  std::atomic<uint32_t> count_{1};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  // Takes over one reference.
  static Ref Adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Adds one.
  static Ref Share(T* object) {
    if (object != nullptr) object->Retain();
    return Adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->Retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->Release();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the reference away.
  T* Leak() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>::Adopt(new T(std::forward<Args>(args)...));
}

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_REF_H_
