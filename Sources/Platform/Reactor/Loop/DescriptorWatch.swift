/// A descriptor that belongs to another library, watched for it until `stop`; loop-bound.
///
/// Level-triggered: its handler is called in each turn in which the descriptor is ready for what is wanted.
/// With nothing wanted it is called when the peer has ended the connection.
package final class DescriptorWatch {
  /// The events that the library waits for.
  package struct Wish: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let read = Wish(rawValue: 1)
    package static let write = Wish(rawValue: 2)
  }

  private let loop: EventLoop
  package let descriptor: CInt
  private let onReady: (Wish) -> Void
  private var place: RegistrationTable.Place?
  private var wish: Wish

  /// - Parameter onReady: what it is ready for; both when it failed or was hung up, and nothing when
  ///   that is all there is to say. The loop keeps it until `stop`.
  package init(
    loop: EventLoop, descriptor: CInt, for wish: Wish, onReady: @escaping (Wish) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.descriptor = descriptor
    self.wish = wish
    self.onReady = onReady
    place = try loop.register(descriptor, for: Self.events(wish), handler: self)
  }

  package func change(to wish: Wish) {
    guard let place, wish != self.wish else { return }
    self.wish = wish
    loop.watch(descriptor, place, for: Self.events(wish))
  }

  /// To be called before the descriptor is closed. Safe to call twice.
  package func stop() {
    if let place { loop.unregister(place, foreign: descriptor) }
    place = nil
  }

  private static func events(_ wish: Wish) -> Readiness {
    guard !wish.isEmpty else { return .peerClosed }
    var events: Readiness = []
    if wish.contains(.read) { events.insert(.readable) }
    if wish.contains(.write) { events.insert(.writable) }
    return events
  }
}

extension DescriptorWatch: ReadinessHandler {
  func ready(_ readiness: Readiness) {
    guard !wish.isEmpty else { return onReady([]) }
    var wish: Wish = []
    if readiness.contains(.readable) { wish.insert(.read) }
    if readiness.contains(.writable) { wish.insert(.write) }
    if readiness.contains(.failed) || readiness.contains(.hangUp) { wish = [.read, .write] }
    onReady(wish)
  }
}
