import CCurl

/// The libcurl that this process is linked with.
package enum CurlLibrary {
  /// libcurl demands that the first initialisation happens on one thread only.
  private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// To be called before a handle is made; cheap when it was before.
  package static func initialise() {
    precondition(isInitialised, "libcurl cannot be initialised")
  }

  private static var info: curl_version_info_data { ccurl_version().pointee }

  /// The version, for instance `7.88.1`.
  package static var version: String { String(cString: info.version) }

  /// Why pushes cannot be carried by it; nil when they can.
  package static var unfitness: String? {
    let tls = info.ssl_version.map { String(cString: $0) } ?? "no TLS"
    guard info.features & CURL_VERSION_HTTP2 != 0 else { return "it is built without HTTP/2" }
    // Certificates and authorities are handed to its TLS library, which must be ours.
    return tls.hasPrefix("OpenSSL/") ? nil : "it is built with \(tls), not with OpenSSL"
  }
}
