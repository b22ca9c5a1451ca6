internal import COpenSSL
internal import Model
internal import Reactor

/// A digest of what a provider or a source of credentials is made of: where it is the same, the one that is there goes
/// on. Nothing of the material can be had from it.
struct MaterialDigest: Hashable, Sendable {
  /// The 32 bytes of the digest, in place: there may be a hundred thousand digests.
  private let words: SIMD4<UInt64>

  /// - Parameter parts: all of it, in an order that never changes.
  init(_ parts: [Part]) {
    var text: [UInt8] = []
    for part in parts {
      // With their lengths, so that no two lists come to the same text.
      text += Array("\(part.bytes?.count ?? -1):".utf8) + (part.bytes ?? [])
    }
    var digest = [UInt8](repeating: 0, count: 32)
    let isDone = EVP_Digest(text, text.count, &digest, nil, EVP_sha256(), nil)
    precondition(isDone == 1, "OpenSSL has no SHA-256")
    var words = SIMD4<UInt64>()
    for (position, byte) in digest.enumerated() {
      words[position / 8] = words[position / 8] << 8 | UInt64(byte)
    }
    self.words = words
  }

  /// The first half of it, in hexadecimal.
  var text: String {
    [words[0], words[1]].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }

  /// One of the parts: a text, bytes, or nothing.
  struct Part {
    let bytes: [UInt8]?

    init(bytes: [UInt8]?) { self.bytes = bytes }
    init(_ text: String?) { bytes = text.map { Array($0.utf8) } }
    init(_ material: MaterialBytes?) { bytes = material?.bytes }
    /// Without its width: a rate that becomes another is no reason for another entry.
    init(_ limit: RateLimit) { self.init("\(limit.name) \(limit.isOfApp) \(limit.rampMs)") }
  }
}

extension AccessMaterial {
  var parts: [MaterialDigest.Part] {
    [
      .init(address?.authority), .init(authorities), .init(proxy?.url), .init(proxy?.login?.user),
      .init(proxy?.login?.password),
    ]
  }
}
