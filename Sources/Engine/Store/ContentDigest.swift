internal import COpenSSL
package import Model

/// Tells two contents apart: the start of a SHA-256, in hexadecimal.
package enum ContentDigest {
  /// 16 bytes as 32 digits: enough that two different jobs never look alike.
  package static func of(_ bytes: [UInt8]) -> String { hex(bytes, count: 16) }

  /// Returns the digest that tells a job from another of its id.
  package static func of(_ job: Job) -> String { of(job.canonicalBytes()) }

  /// The whole of it, as 64 digits.
  static func sha256(_ text: String) -> String { hex(Array(text.utf8), count: 32) }

  /// Looked up once: by its name OpenSSL looks through its providers each time. Never changed, and kept for good.
  private nonisolated(unsafe) static let sha256 = EVP_MD_fetch(nil, "SHA256", nil)

  /// The first `count` bytes of it, as twice as many digits.
  static func hex(_ bytes: [UInt8], count: Int) -> String {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digest in
      let isDone = EVP_Digest(bytes, bytes.count, digest.baseAddress, nil, sha256, nil)
      precondition(isDone == 1, "OpenSSL has no SHA-256")
      let digits: StaticString = "0123456789abcdef"
      return String(unsafeUninitializedCapacity: count * 2) { text in
        for index in 0..<count {
          text[2 * index] = digits.utf8Start[Int(digest[index] >> 4)]
          text[2 * index + 1] = digits.utf8Start[Int(digest[index] & 15)]
        }
        return count * 2
      }
    }
  }
}
