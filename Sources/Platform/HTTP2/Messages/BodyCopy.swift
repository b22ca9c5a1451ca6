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
