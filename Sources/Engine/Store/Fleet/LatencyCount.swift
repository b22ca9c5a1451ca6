package import Model

/// How many answers of a network came within a bound.
package struct LatencyCount: Sendable, Equatable {
  package let network: Network
  /// The upper bound of the histogram's bucket.
  package let boundMs: Int
  package let count: Int

  package init(network: Network, boundMs: Int, count: Int) {
    self.network = network
    self.boundMs = boundMs
    self.count = count
  }
}
