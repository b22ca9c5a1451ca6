/// Whether a page of this server itself has sent a request, or one of somebody else's: a browser adds the cookie to both.
enum SiteCheck {
  /// Checks a request that changes something by a cookie, or begins a session (Fetch Metadata, `Sec-Fetch-Site`; RFC 6454,
  /// `Origin`).
  /// - Parameters:
  ///   - host: the name by which the client calls the server.
  ///   - mayBeSilent: a request without either field passes, as of a program that is no browser.
  static func check(
    _ head: RequestHead, host: String?, mayBeSilent: Bool = false
  ) throws(Problem) {
    if let site = head.headers["sec-fetch-site"] {
      guard ["same-origin", "none"].contains(site.lowercased()) else { throw refused }
      return
    }
    guard let origin = head.headers["origin"] else {
      guard mayBeSilent else {
        throw .forbidden(
          "a browser's session changes something only for this server's own page: the request has "
            + "neither sec-fetch-site nor origin. Programs show a key: authorization: Bearer KEY")
      }
      return
    }
    guard let host, isSame(origin, host) else { throw refused }
  }

  private static let refused = Problem.forbidden(
    "another site's page has sent this: open this server's own page. Behind a proxy, the proxy must "
      + "pass on the field host")

  /// Whether an origin is at a host. The port of the scheme may be left out.
  static func isSame(_ origin: String, _ host: String) -> Bool {
    for (scheme, port) in [("https://", ":443"), ("http://", ":80")] {
      guard origin.lowercased().hasPrefix(scheme) else { continue }
      func plain(_ text: some StringProtocol) -> String {
        let text = text.lowercased()
        return text.hasSuffix(port) ? String(text.dropLast(port.utf8.count)) : text
      }
      let authority = plain(origin.dropFirst(scheme.utf8.count))
      return !authority.isEmpty && authority == plain(host)
    }
    return false
  }
}
