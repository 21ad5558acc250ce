// A doubly linked list whose links are in its elements: no allocation, and an element leaves in
// O(1).
#ifndef WEFT_LIB_BASE_INTRUSIVE_LIST_H_
#define WEFT_LIB_BASE_INTRUSIVE_LIST_H_

#include <cstddef>

#include "base/check.h"

namespace weft::inline v0::base {

template <class T>
class IntrusiveList;

// Base of elements; an element is in at most one list.
template <class T>
class ListNode {
 public:
  bool linked() const { return prev_ != nullptr; }

 protected:
  ListNode() = default;
  ~ListNode() { WEFT_DCHECK(!linked()); }

 private:
  friend class IntrusiveList<T>;
  ListNode* prev_ = nullptr;
  ListNode* next_ = nullptr;
};

// Owns nothing.
template <class T>
class IntrusiveList {
 public:
  IntrusiveList() { root_.prev_ = root_.next_ = &root_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;
  ~IntrusiveList() {
    WEFT_DCHECK(empty());
    root_.prev_ = nullptr;
  }
  bool empty() const { return root_.next_ == &root_; }
  size_t size() const { return size_; }
  T* front() { return empty() ? nullptr : static_cast<T*>(root_.next_); }
  T* next(T* element) {
    Node* n = static_cast<Node*>(element)->next_;
    return n == &root_ ? nullptr : static_cast<T*>(n);
  }
  void push_back(T* element) { Link(element, root_.prev_); }
  void push_front(T* element) { Link(element, &root_); }
  void erase(T* element) {
    Node* n = element;
    WEFT_DCHECK(n->linked());
    n->prev_->next_ = n->next_;
    n->next_->prev_ = n->prev_;
    n->prev_ = n->next_ = nullptr;
    --size_;
  }
  T* pop_front() {
    T* element = front();
    if (element != nullptr) erase(element);
    return element;
  }

 private:
  using Node = ListNode<T>;
  struct Root : Node {};
  void Link(Node* n, Node* after) {
    WEFT_DCHECK(!n->linked());
    n->prev_ = after;
    n->next_ = after->next_;
    after->next_->prev_ = n;
    after->next_ = n;
    ++size_;
  }
  Root root_;
  size_t size_ = 0;
};

}  // namespace weft::inline v0::base

#endif  // WEFT_LIB_BASE_INTRUSIVE_LIST_H_
