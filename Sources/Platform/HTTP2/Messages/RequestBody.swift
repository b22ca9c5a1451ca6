internal import Glibc

/// A request's body as up to three pieces in a row, none copied until it is framed: what is shared by
/// many requests before and after what is this request's own.
///
/// Whoever submits it keeps the pieces in place until the request has finished, but for those of `init(copying:)`.
package struct RequestBody {
  var before: UnsafeRawBufferPointer
  var own: UnsafeRawBufferPointer
  var after: UnsafeRawBufferPointer
  /// Whether what is the request's own is in place during the submission only.
  package private(set) var isCopied = false

  /// A body that is copied as it is submitted.
  package init(copying bytes: UnsafeRawBufferPointer) {
    self.init(before: .init(start: nil, count: 0), own: bytes)
    isCopied = true
  }

  package init(
    before: UnsafeRawBufferPointer, own: UnsafeRawBufferPointer = .init(start: nil, count: 0),
    after: UnsafeRawBufferPointer = .init(start: nil, count: 0)
  ) {
    self.before = before
    self.own = own
    self.after = after
  }

  /// Copies what comes next and drops it from the front.
  /// - Returns: the bytes copied.
  package mutating func take(into target: UnsafeMutableRawBufferPointer) -> Int {
    var room = target
    Self.move(&before, into: &room)
    Self.move(&own, into: &room)
    Self.move(&after, into: &room)
    return target.count - room.count
  }

  package var count: Int { before.count + own.count + after.count }

  var isEmpty: Bool { before.isEmpty && own.isEmpty && after.isEmpty }

  private static func move(
    _ source: inout UnsafeRawBufferPointer, into room: inout UnsafeMutableRawBufferPointer
  ) {
    let count = min(source.count, room.count)
    guard count > 0 else { return }
    memcpy(room.baseAddress!, source.baseAddress!, count)
    source = UnsafeRawBufferPointer(rebasing: source[count...])
    room = UnsafeMutableRawBufferPointer(rebasing: room[count...])
  }
}

/// Room for the one piece of a body that its submitter does not keep in place; used for one request after the other.
///
/// It is no object, since there is one for each stream and they are looked at for each request: whoever has it frees it.
package struct BodyCopy {
  private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  package init() {}

  /// Takes a body over until the next one.
  /// - Returns: the same body, in place for as long.
  package mutating func hold(_ body: RequestBody) -> RequestBody {
    if room.count < body.own.count {
      room.deallocate()
      room = .allocate(byteCount: max(body.own.count, 2 * room.count), alignment: 1)
    }
    let copy = UnsafeMutableRawBufferPointer(rebasing: room[..<body.own.count])
    copy.copyMemory(from: body.own)
    return RequestBody(before: body.before, own: UnsafeRawBufferPointer(copy), after: body.after)
  }

  package func free() { room.deallocate() }
}
