/// The requests in flight of one connection: room that grows up to its bound, and a list in order of submission so that
/// the next deadline is always at its head. No allocation but for growing.
struct SlotTable: ~Copyable {
  /// Most connections never have more in flight.
  private static let slotsFew = 8

  let capacity: Int
  private var slots = UnsafeMutableBufferPointer<RequestSlot>(start: nil, count: 0)
  private var free: [Int32] = []
  private(set) var oldest: Int32 = -1
  private var youngest: Int32 = -1
  /// The slot that was looked for last.
  var recent: Int32 = 0
  /// Bodies of answers that are not plain accepts.
  private var bodies: [[UInt8]] = []
  /// Content-Types other than JSON's by slot; empty while there was none.
  private var types: [[UInt8]] = []
  /// Copies of bodies, by the slots that had one to be copied; empty while none had.
  private var copies: [BodyCopy] = []

  /// - Parameter capacity: the most requests at a time.
  init(capacity: Int) {
    self.capacity = capacity
    grow(to: min(capacity, Self.slotsFew))
  }

  deinit {
    slots.deallocate()
    for copy in copies { copy.free() }
  }

  var inFlight: Int { slots.count - free.count }

  subscript(_ index: Int32) -> RequestSlot {
    get { slots[Int(index)] }
    nonmutating _modify { yield &slots[Int(index)] }
  }

  private mutating func grow(to count: Int) {
    let grown = UnsafeMutableBufferPointer<RequestSlot>.allocate(capacity: count)
    grown.initialize(repeating: RequestSlot())
    for index in slots.indices { grown[index] = slots[index] }
    free = (Int32(slots.count)..<Int32(count)).reversed() + free
    free.reserveCapacity(count)
    bodies += Array(repeating: [], count: count - slots.count)
    if !types.isEmpty { types += Array(repeating: [], count: count - slots.count) }
    if !copies.isEmpty {
      for _ in slots.count..<count { copies.append(BodyCopy()) }
    }
    slots.deallocate()
    slots = grown
  }

  /// Gives back what it has grown by, while nothing is in flight.
  mutating func shrink() {
    if slots.count > Self.slotsFew, inFlight == 0 { self = SlotTable(capacity: capacity) }
  }

  /// Takes a free slot; fewer than `capacity` must be taken.
  mutating func take(tag: UInt64, body: RequestBody, startedNs: UInt64) -> Int32 {
    if free.isEmpty { grow(to: min(capacity, slots.count * 2)) }
    let index = free.removeLast()
    slots[Int(index)] = RequestSlot(
      tag: tag, body: body.isCopied ? copy(body, index) : body, startedNs: startedNs,
      older: youngest)
    if youngest >= 0 { slots[Int(youngest)].younger = index } else { oldest = index }
    youngest = index
    return index
  }

  private mutating func copy(_ body: RequestBody, _ index: Int32) -> RequestBody {
    if copies.isEmpty { copies = Array(repeating: BodyCopy(), count: slots.count) }
    return copies[Int(index)].hold(body)
  }

  /// Gives a slot back and returns what was in it.
  mutating func release(_ index: Int32) -> RequestSlot {
    let slot = slots[Int(index)]
    if slot.older >= 0 {
      slots[Int(slot.older)].younger = slot.younger
    } else {
      oldest = slot.younger
    }
    if slot.younger >= 0 {
      slots[Int(slot.younger)].older = slot.older
    } else {
      youngest = slot.older
    }
    slots[Int(index)].streamID = 0
    free.append(index)
    return slot
  }

  /// The slot of a stream that nghttp2 has no object of (any more); a scan, for rare cases.
  func find(streamID: Int32) -> Int32? {
    slots.firstIndex { $0.streamID == streamID }.map(Int32.init)
  }

  func hasBody(_ index: Int32) -> Bool { !bodies[Int(index)].isEmpty }

  /// Notes the answer's Content-Type. Networks answer in JSON, so nothing is kept of that.
  mutating func noteType(_ value: UnsafeRawBufferPointer, of index: Int32) {
    slots[Int(index)].hasType = true
    slots[Int(index)].hasOddType = !ContentType.isJSON(value)
    guard slots[Int(index)].hasOddType else { return }
    if types.isEmpty { types = Array(repeating: [], count: slots.count) }
    types[Int(index)] = Array(value.prefix(HTTP2Limits.contentTypeBytesMax))
  }

  /// The Content-Type of a slot that has had another than JSON's, which is left without one.
  mutating func takeType(_ index: Int32) -> [UInt8] {
    var type: [UInt8] = []
    swap(&type, &types[Int(index)])
    return type
  }

  mutating func appendBody(_ bytes: UnsafeRawBufferPointer, to index: Int32) {
    let room = HTTP2Limits.answerBodyBytesMax - bodies[Int(index)].count
    bodies[Int(index)].append(contentsOf: bytes.prefix(room))
    if bytes.count > room { slots[Int(index)].isBodyCut = true }
  }

  /// The body gathered in a slot, which is left without one.
  mutating func takeBody(_ index: Int32) -> [UInt8] {
    guard !bodies[Int(index)].isEmpty else { return [] }
    var body: [UInt8] = []
    swap(&body, &bodies[Int(index)])
    return body
  }
}

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
