/// A part of a request whose length its network limits.
package struct PayloadSize: Sendable, Equatable {
  /// To be read behind the network's name.
  package let part: String
  /// The size as the network counts it.
  package let bytes: Int
  package let bytesMax: Int
}
