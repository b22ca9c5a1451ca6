internal import COpenSSL
package import Redis

/// pushpool.lua as the library that connections load.
package enum StoreLibrary {
  /// The version is the start of the source's SHA-256: another source, other names.
  package static let library: FunctionLibrary = {
    let source = PackageResources.pushpool_lua
    var digest = [UInt8](repeating: 0, count: 32)
    _ = EVP_Digest(source, source.count, &digest, nil, EVP_sha256(), nil)
    let hex = Array("0123456789abcdef")
    let version = String(digest.prefix(4).flatMap { [hex[Int($0 >> 4)], hex[Int($0 & 15)]] })
    return FunctionLibrary(
      name: "pushpool", version: version, template: String(decoding: source, as: UTF8.self))
  }()
}
