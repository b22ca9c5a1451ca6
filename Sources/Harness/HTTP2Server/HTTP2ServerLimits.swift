/// The limits of what a server connection takes.
package enum HTTP2ServerLimits {
  /// Bytes of a request's body: one to JPush with 1,000 of the longest device tokens.
  package static let requestBodyBytesMax = 160 * 1024
  /// All header names and values of one request.
  static let requestHeaderBytesMax = 16 * 1024
}
