#include "event/loop.h"

#include <utility>

namespace weft::inline v0::event {
namespace {

thread_local constinit Loop* current_loop = nullptr;

class FunctionTask final : public Task {
 public:
  explicit FunctionTask(absl::AnyInvocable<void() &&> function) : function_(std::move(function)) {}
  void Run() override {
    absl::AnyInvocable<void()&&> function = std::move(function_);
    delete this;
    std::move(function)();
  }
  void Drop() override { delete this; }

 private:
  absl::AnyInvocable<void() &&> function_;
};

}  // namespace

void Loop::PostFunction(absl::AnyInvocable<void() &&> function) {
  Post(new FunctionTask(std::move(function)));
}

CurrentLoop::CurrentLoop(Loop* loop) : outer_(std::exchange(current_loop, loop)) {}

CurrentLoop::~CurrentLoop() { current_loop = outer_; }

Loop* CurrentLoop::Get() { return current_loop; }

bool OnAnyLoop() { return current_loop != nullptr; }

void TaskQueue::Push(Task* task) {
  task->next_ = nullptr;
  if (tail_ == nullptr) {
    head_ = task;
  } else {
    tail_->next_ = task;
  }
  tail_ = task;
}

Task* TaskQueue::Pop() {
  Task* const task = head_;
  if (task == nullptr) return nullptr;
  head_ = task->next_;
  if (head_ == nullptr) tail_ = nullptr;
  task->next_ = nullptr;
  return task;
}

void TaskQueue::Append(TaskQueue& other) {
  if (other.head_ == nullptr) return;
  if (tail_ == nullptr) {
    head_ = other.head_;
  } else {
    tail_->next_ = other.head_;
  }
  tail_ = other.tail_;
  other.head_ = other.tail_ = nullptr;
}

void TaskQueue::DropAll() {
  while (Task* task = Pop()) task->Drop();
}

TaskQueue TaskQueue::FromLifo(Task* chain) {
  TaskQueue queue;
  queue.tail_ = chain;
  while (chain != nullptr) {
    Task* const next = chain->next_;
    chain->next_ = queue.head_;
    queue.head_ = chain;
    chain = next;
  }
  return queue;
}

}  // namespace weft::inline v0::event
