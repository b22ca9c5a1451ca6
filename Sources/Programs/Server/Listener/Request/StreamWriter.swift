internal import Hummingbird
internal import NIOCore

/// Writes the parts of a streamed body to a connection.
///
/// Unchecked: only the one task that makes the body uses it, one part after the other.
final class StreamWriter: APIBodyWriter, @unchecked Sendable {
  private var writer: any ResponseBodyWriter

  init(_ writer: any ResponseBodyWriter) { self.writer = writer }

  func write(_ bytes: [UInt8]) async throws {
    guard !bytes.isEmpty else { return }
    try await writer.write(ByteBuffer(bytes: bytes))
  }
}
