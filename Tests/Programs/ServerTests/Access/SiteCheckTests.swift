import Operations
import Testing

@testable import Server

/// Whether a request with a cookie comes from the server's own page.
@Suite struct SiteCheckTests {
  private static func passes(
    _ headers: [String: String], mayBeSilent: Bool = false
  ) -> Bool {
    let head = RequestHead.of(nil, .post, headers)
    do throws(Problem) {
      try SiteCheck.check(head, host: headers["host"], mayBeSilent: mayBeSilent)
      return true
    } catch {
      return error.status != 403
    }
  }

  @Test("Sec-Fetch-Site decides where a browser sends it, whatever Origin says")
  func fetchMetadata() {
    let own = ["host": "push.example.com", "origin": "https://push.example.com"]
    for (site, passes) in [
      ("same-origin", true), ("none", true), ("Same-Origin", true), ("same-site", false),
      ("cross-site", false), ("", false), ("same-origin, cross-site", false),
    ] {
      var headers = own
      headers["sec-fetch-site"] = site
      #expect(Self.passes(headers) == passes, "\(site)")
      headers["origin"] = nil
      #expect(Self.passes(headers) == passes, "\(site)")
    }
  }

  @Test("without it Origin must be the server's own host")
  func origin() {
    for (origin, host, passes) in [
      ("https://push.example.com", "push.example.com", true),
      ("https://push.example.com", "push.example.com:443", true),
      ("http://push.example.com", "push.example.com:80", true),
      ("https://push.example.com:443", "push.example.com", true),
      ("http://127.0.0.1:8080", "127.0.0.1:8080", true), ("http://[::1]:8080", "[::1]:8080", true),
      ("HTTPS://Push.Example.com", "push.example.com", true),
      ("https://push.example.com", "push.example.com:80", false),
      ("http://127.0.0.1:8081", "127.0.0.1:8080", false),
      ("https://evil.example.com", "push.example.com", false),
      ("https://push.example.com.evil.net", "push.example.com", false),
      ("null", "push.example.com", false), ("", "push.example.com", false), ("https://", "", false),
      ("push.example.com", "push.example.com", false),
      ("ftp://push.example.com", "push.example.com", false),
    ] {
      #expect(Self.passes(["origin": origin, "host": host]) == passes, "\(origin) at \(host)")
    }
    #expect(!Self.passes(["origin": "https://push.example.com"]))
  }

  @Test("with neither, a cookie changes nothing; a program without a cookie may begin a session")
  func silent() {
    #expect(!Self.passes(["host": "push.example.com"]))
    #expect(Self.passes(["host": "push.example.com"], mayBeSilent: true))
    #expect(!Self.passes(["host": "a", "origin": "https://b"], mayBeSilent: true))
  }
}
