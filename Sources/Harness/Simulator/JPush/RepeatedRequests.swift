/// The answers to accepted requests with a `cid`, which is how a repeated one is recognised: it gets the first one's
/// answer and is not delivered again (docs.jiguang.cn/jpush/server/push/rest_api_v3_push, "cid").
struct RepeatedRequests {
  private var answers: [[UInt8]: Answer] = [:]
  private var order: [[UInt8]] = []
  private var next = 0

  /// The answer to the first request with this cid; nil for a cid that is new.
  func answer(to cid: UnsafeRawBufferPointer) -> Answer? { answers[[UInt8](cid)] }

  mutating func remember(_ answer: Answer, to cid: UnsafeRawBufferPointer) {
    let cid = [UInt8](cid)
    if order.count < SimulatorLimits.jpushCIDsMax {
      order.append(cid)
    } else {
      answers[order[next]] = nil
      order[next] = cid
      next = (next + 1) % order.count
    }
    answers[cid] = answer
  }
}
