// What RingHash and Maglev have in common: a table says which host a call's key belongs to, and
// which one is next where that one cannot take the call. Calls without a key go to a random place
// of the table.
//
// The table depends on addresses and on the endpoints' own weights, not on those of slow start:
// lowering a weight would move keys away for half a minute and back again. So it is kept through
// all updates that change neither.
//
// A Table has
//   Table(const std::vector<PickerHost>& hosts);
//   size_t Owner(uint64_t key, int step) const;   // step 0: whose the key is; 1, 2, …: who is next
#ifndef WEFT_LIB_BALANCE_KEYED_PICKER_H_
#define WEFT_LIB_BALANCE_KEYED_PICKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "balance/host_set.h"
#include "base/mix.h"
#include "weft/balancer.h"

namespace weft::inline v0::balance {

template <class Table>
class KeyedPicker final : public Picker {
 public:
  // `last`: the picker before, or null.
  KeyedPicker(const std::vector<PickerHost>& hosts, const KeyedPicker* last) : hosts_(hosts) {
    weights_.reserve(hosts.size());
    for (const PickerHost& host : hosts) weights_.push_back(host.endpoint->weight);
    table_ = last != nullptr && last->SameHosts(*this) ? last->table_
                                                       : std::make_shared<const Table>(hosts);
  }

  PickResult Pick(const PickFacts& facts) const override {
    const uint64_t key = facts.hash_key != 0 ? facts.hash_key : facts.random;
    for (int step = 0; step < HostSet::kDraws && !hosts_.empty(); ++step) {
      const size_t owner = table_->Owner(key, step);
      if (hosts_.Fresh(owner, facts)) return PickResult::Host(owner);
    }
    // By the key again, so that its calls stay together while the same hosts are down.
    return hosts_.PickByCount(facts, base::Mix(key), weights_);
  }

 private:
  bool SameHosts(const KeyedPicker& other) const {
    if (weights_ != other.weights_) return false;
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (&hosts_[i] != &other.hosts_[i]) return false;
    }
    return true;
  }

  const HostSet hosts_;
  std::vector<double> weights_;
  std::shared_ptr<const Table> table_;
};

template <class Table>
class KeyedBalancer final : public Balancer {
 public:
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override {
    last_ = std::make_shared<const KeyedPicker<Table>>(hosts, last_.get());
    return last_;
  }

 private:
  std::shared_ptr<const KeyedPicker<Table>> last_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_KEYED_PICKER_H_
