#include "event/tenure.h"

#include "event/standby.h"

namespace weft::inline v0::event {

void Tenure::EnterUser() {
  in_user_ = true;
  entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  GoToUser();
}

void Tenure::GoToUser() {
  // Against Standby::Run, which says that it sleeps and then looks once more.
  state_.store(kUser, std::memory_order_seq_cst);
  if (standby_ != nullptr) standby_->OnUserCode();
}

}  // namespace weft::inline v0::event
