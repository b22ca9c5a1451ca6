import Reactor

/// One direction of a ``ProxyPair``: what was read and has not been passed on; loop-bound.
final class ProxyFlow {
  private struct Piece {
    var bytes: [UInt8]
    /// When it may pass, in the loop's time.
    var dueNs: UInt64
  }

  /// Bytes that may wait here before their source is not read any more.
  private static let waitingBytesMax = 256 * 1_024
  /// Bytes that may wait on a long way: what is on it takes no room from what follows, as with TCP's windows.
  private static let delayedBytesMax = 16 * 1_024 * 1_024
  /// How soon bytes must be due to pass at once, with what is due now.
  private static let soonNs: UInt64 = 50_000
  /// How often a limited bandwidth's share passes.
  private static let shareMs: UInt64 = 10

  private unowned let pair: ProxyPair
  /// Where it goes; nil while there is no connection.
  var target: ProxySide?
  weak var source: ProxySide?
  /// Called once, when nothing waits any more.
  var onSent: (() -> Void)?
  private var waiting: [Piece] = []
  private var waitingBytes = 0
  /// Bytes of the first piece that have passed.
  private var passed = 0
  private var lastDueNs: UInt64 = 0
  private var nextShareNs: UInt64 = 0
  private var timer: LoopTimer!
  private var isPumping = false

  init(_ pair: ProxyPair) {
    self.pair = pair
    timer = LoopTimer(loop: pair.loop) { [unowned self] in pump() }
  }

  func take(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    var dueNs: UInt64 = 0
    if case .delay(let ms) = pair.fault {
      dueNs = pair.loop.nowNs &+ pair.switchboard.dice.pick(ms) &* 1_000_000
    }
    // In order: nothing passes before what came earlier.
    lastDueNs = max(lastDueNs, dueNs)
    waiting.append(Piece(bytes: Array(bytes), dueNs: lastDueNs))
    waitingBytes += bytes.count
    if waitingBytes > waitingBytesMax { source?.stream.pauseReading() }
    pump()
  }

  /// Passes on what may pass now.
  func pump() {
    guard !isPumping, let target, target.stream.isOpen else { return }
    isPumping = true
    defer { isPumping = false }
    var hasPassed = false
    while let piece = waiting.first, let most = allowance(piece) {
      let count = min(most, piece.bytes.count - passed, target.stream.outputRoom)
      // Called again when there is room.
      guard count > 0 else { break }
      let isTaken = piece.bytes.withUnsafeBytes {
        target.stream.write(UnsafeRawBufferPointer(rebasing: $0[passed..<passed + count]))
      }
      guard isTaken else { break }
      advance(count)
      hasPassed = true
      if isThrottled { break }
    }
    // A flush asks for more: with nothing to write each turn would lead to another.
    if hasPassed { target.stream.requestFlush() }
    if waiting.isEmpty, let onSent {
      self.onSent = nil
      // After this turn's flush.
      let timer = LoopTimer(loop: pair.loop) { onSent() }
      timer.schedule(afterMs: 1)
    }
  }

  private func advance(_ count: Int) {
    passed += count
    waitingBytes -= count
    if passed == waiting[0].bytes.count {
      waiting.removeFirst()
      passed = 0
    }
    if waitingBytes < waitingBytesMax / 2 { source?.stream.resumeReading() }
  }

  private var waitingBytesMax: Int {
    if case .delay = pair.fault { Self.delayedBytesMax } else { Self.waitingBytesMax }
  }

  private var isReply: Bool { source !== nil && pair.isServer(source!) }

  private var isThrottled: Bool {
    switch pair.fault {
    case .fragments: isReply
    case .bandwidth: true
    default: false
    }
  }

  /// How many bytes may pass now; nil to wait, for which the timer is set.
  private func allowance(_ piece: Piece) -> Int? {
    let nowNs = pair.loop.nowNs
    if piece.dueNs > nowNs + Self.soonNs {
      pair.switchboard.pump(atNs: piece.dueNs)
      return nil
    }
    switch pair.fault {
    case .stall, .blackhole, .halfOpen: return nil
    case .fragments where isReply:
      if timer.isArmed { return nil }
      timer.schedule(afterMs: 0)
      return 1
    case .bandwidth(let bytesPerSecond):
      if nowNs < nextShareNs {
        timer.schedule(afterMs: (nextShareNs - nowNs + 999_999) / 1_000_000)
        return nil
      }
      nextShareNs = nowNs + Self.shareMs * 1_000_000
      timer.schedule(afterMs: Self.shareMs)
      return max(1, bytesPerSecond * Int(Self.shareMs) / 1_000)
    default: return .max
    }
  }

  func close() {
    timer.cancel()
    waiting.removeAll()
    target = nil
    onSent = nil
  }
}
