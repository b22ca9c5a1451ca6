/// Bounds of the HTTP client; every one of them protects the process from a peer or a caller.
package enum HTTPClientLimits {
  /// Longest response body that is kept; a longer one ends the transfer.
  package static let bodyBytesMax = 1 << 20
  /// Most bytes of header lines in one response.
  package static let headerBytesMax = 64 << 10
  /// Most requests that wait or run at once; a further one is refused as busy.
  package static let requestsMax = 256
  /// Most connections of one client, to all hosts together.
  package static let connectionsMax = 16
  /// How long the end of the client waits for its thread.
  static let stopSeconds = 3
  /// Timeout of a request that names none.
  package static let timeoutMs = 10_000
}
