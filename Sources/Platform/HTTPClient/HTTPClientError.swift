/// Why no response came. The message never holds headers or bodies.
package struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The request itself is wrong: URL, scheme, or a header with a control character.
    case invalidRequest
    /// `HTTPClientLimits.requestsMax` requests are under way already.
    case busy
    /// The client was shut down.
    case closed
    case unresolved
    case unreachable
    /// The proxy cannot be reached, or opens no tunnel to the host.
    case proxy
    /// The TLS handshake failed, an untrusted certificate included.
    case insecure
    case timedOut
    /// The response exceeds a limit of `HTTPClientLimits`.
    case responseTooLarge
    /// The connection broke or the peer does not speak HTTP.
    case broken
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
