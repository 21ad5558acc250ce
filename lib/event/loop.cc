#include "event/loop.h"

#include <utility>

#include "event/tenure.h"

namespace weft::inline v0::event {
namespace {

thread_local constinit CurrentLoop* current = nullptr;

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

CurrentLoop::CurrentLoop(Loop* loop, Tenure* tenure)
    : loop_(loop), tenure_(tenure), outer_(std::exchange(current, this)) {}

CurrentLoop::~CurrentLoop() { current = outer_; }

Loop* CurrentLoop::Get() {
  if (current == nullptr) return nullptr;
  if (current->tenure_ != nullptr && !current->tenure_->Claim()) return nullptr;
  return current->loop_;
}

Tenure* CurrentLoop::tenure() { return current != nullptr ? current->tenure_ : nullptr; }

bool OnAnyLoop() { return current != nullptr; }

UserCode::UserCode() {
  if (Tenure* const tenure = CurrentLoop::tenure()) tenure->EnterUser();
}

UserCode::~UserCode() {
  if (Tenure* const tenure = CurrentLoop::tenure()) tenure->LeaveUser();
}

WeftCode::~WeftCode() {
  if (Tenure* const tenure = CurrentLoop::tenure()) tenure->BackToUser();
}

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
