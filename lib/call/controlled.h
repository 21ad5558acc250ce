// Controlled: what a CallHandle holds on to.
#ifndef WEFT_LIB_CALL_CONTROLLED_H_
#define WEFT_LIB_CALL_CONTROLLED_H_

namespace weft::inline v0::call {

class Controlled {
 public:
  // Any thread; the callback still comes.
  virtual void CancelCall() = 0;
  // When it returns, no callback runs any more, except where the calling thread is in one.
  virtual void CloseCallbacks() = 0;
  // The handle lets go of its reference.
  virtual void ReleaseHandle() = 0;

 protected:
  ~Controlled() = default;
};

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_CONTROLLED_H_
