internal import Synchronization

/// Which addresses failed lately. All lanes share it: where one ran into a dead address, the next connection
/// of another does not begin with it.
final class AddressHistory: Sendable {
  private let failures = Mutex<[SocketAddress: UInt64]>([:])

  /// - Parameter nowNs: of the clock that all loops share.
  func noteFailure(_ address: SocketAddress, nowNs: UInt64) {
    failures.withLock { failures in
      if failures.count >= ReactorLimits.addressFailuresMax, failures[address] == nil,
        let oldest = failures.min(by: { $0.value < $1.value })
      {
        failures[oldest.key] = nil
      }
      failures[address] = nowNs
    }
  }

  func noteSuccess(_ address: SocketAddress) {
    failures.withLock { _ = $0.removeValue(forKey: address) }
  }

  /// The addresses in the order to try them in: the families in turn (RFC 8305, 4), and those that failed
  /// lately at the end, the longest ago first.
  func ordered(_ addresses: [SocketAddress], nowNs: UInt64) -> [SocketAddress] {
    let failedNs = failures.withLock { failures in
      failures.filter { nowNs &- $0.value < ReactorLimits.addressFailureMs * 1_000_000 }
    }
    let interleaved = Self.interleaved(addresses)
    let failed = interleaved.filter { failedNs[$0] != nil }
    return interleaved.filter { failedNs[$0] == nil }
      + failed.sorted { failedNs[$0, default: 0] < failedNs[$1, default: 0] }
  }

  /// Alternates between the family of the first address and the others, each in the order that it came in.
  static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    var preferred = addresses.filter { $0.family == first.family }[...]
    var others = addresses.filter { $0.family != first.family }[...]
    var result: [SocketAddress] = []
    while result.count < addresses.count {
      if let next = preferred.popFirst() { result.append(next) }
      if let next = others.popFirst() { result.append(next) }
    }
    return result
  }
}
