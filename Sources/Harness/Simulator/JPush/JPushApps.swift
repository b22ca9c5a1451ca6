internal import COpenSSL

/// The app keys and master secrets that the simulated JPush knows
/// (docs.jiguang.cn/jpush/server/push/server_overview, "鉴权方式").
struct JPushApps {
  private static let scheme: StaticString = "Basic "

  /// By app key; without any, every pair passes.
  private let secrets: [String: String]

  init(secrets: [String: String]) { self.secrets = secrets }

  /// The app key behind the value of an `authorization` header.
  func appKey(of authorization: UnsafeRawBufferPointer?) throws(JPushError) -> String {
    guard let authorization, authorization.starts(with: Self.scheme),
      authorization.count <= SimulatorLimits.authorizationBytesMax,
      let pair = Self.decode(authorization.dropping(Self.scheme.utf8CodeUnitCount)),
      let colon = pair.firstIndex(of: ":")
    else { throw JPushError(.authenticationFailed) }
    let appKey = String(pair[..<colon])
    guard !secrets.isEmpty else { return appKey }
    guard let secret = secrets[appKey] else { throw JPushError(.invalidAppKey) }
    guard secret == pair[pair.index(after: colon)...] else {
      throw JPushError(.authenticationFailed)
    }
    return appKey
  }

  /// Base64 with padding (RFC 4648, 4) of UTF-8; nil for anything else.
  private static func decode(_ text: UnsafeRawBufferPointer) -> String? {
    guard !text.isEmpty, text.count % 4 == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
    let count = EVP_DecodeBlock(
      &bytes, text.baseAddress!.assumingMemoryBound(to: UInt8.self), CInt(text.count))
    guard count >= 0 else { return nil }
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    return String(validating: bytes.prefix(Int(count) - padding), as: UTF8.self)
  }
}

/// An app that the simulated JPush knows.
package struct KnownJPushApp: Sendable, Equatable {
  package var appKey: String
  /// A file with the master secret.
  package var secretFile: String

  package init(appKey: String, secretFile: String) {
    self.appKey = appKey
    self.secretFile = secretFile
  }
}
