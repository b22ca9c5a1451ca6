/// One request in flight. Slots live in a fixed table, found by the stream's user data.
struct RequestSlot {
  /// The submitter's own mark.
  var tag: UInt64 = 0
  var body = RequestBody(before: .init(start: nil, count: 0))
  var startedNs: UInt64 = 0
  /// 0 while the slot is free.
  var streamID: Int32 = 0
  var status: Int32 = 0
  /// Whether the headers of the answer are complete, those of a 1xx apart.
  var hasHeaders = false
  var retryAfter = RetryAfter()
  /// Whether the body is one by which the server accepts; it is not kept then.
  var isRecognised = false
  /// Whether the answer has a Content-Type, and whether that is another than JSON's.
  var hasType = false
  var hasOddType = false
  /// Whether the answer's body is longer than what is kept of it.
  var isBodyCut = false
  /// Whether the answer is complete (END_STREAM).
  var isEnded = false
  /// Whether the peer has reset the stream.
  var isReset = false
  /// Neighbours in order of submission, which is the order of the deadlines; -1 at the ends.
  var older: Int32 = -1
  var younger: Int32 = -1
}
