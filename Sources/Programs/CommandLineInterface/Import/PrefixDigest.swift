internal import COpenSSL
internal import Glibc

/// The SHA-256 of a file's beginning, for a place that only moves on.
final class PrefixDigest {
  private let descriptor: CInt
  private let context: OpaquePointer
  private var offset: Int64 = 0

  /// - Parameter descriptor: of a regular file; its own place stays as it is.
  init(descriptor: CInt) {
    self.descriptor = descriptor
    // Only fails without memory.
    context = EVP_MD_CTX_new()!
    EVP_DigestInit_ex(context, EVP_sha256(), nil)
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Reads on to this place.
  /// - Returns: the digest of what is before it, in hexadecimal; nil when the file ends earlier or cannot be read.
  func extend(to end: Int64) -> String? {
    let chunk = UnsafeMutableRawBufferPointer.allocate(
      byteCount: CommandLineLimits.readBytes, alignment: 1)
    defer { chunk.deallocate() }
    while offset < end {
      let wanted = min(chunk.count, Int(end - offset))
      let count = pread(descriptor, chunk.baseAddress, wanted, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      EVP_DigestUpdate(context, chunk.baseAddress, count)
      offset += Int64(count)
    }
    return digest()
  }

  private func digest() -> String? {
    let copy = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(copy) }
    var bytes = [UInt8](repeating: 0, count: 32)
    guard EVP_MD_CTX_copy_ex(copy, context) == 1, EVP_DigestFinal_ex(copy, &bytes, nil) == 1 else {
      return nil
    }
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
