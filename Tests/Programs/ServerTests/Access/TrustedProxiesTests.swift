import Model
import Testing

@testable import Server

/// What is believed about where a request came from.
@Suite struct TrustedProxiesTests {
  private static func client(
    _ proxies: [String], _ address: String, _ forwarded: String?
  ) throws -> String {
    let headers = forwarded.map { ["x-forwarded-for": $0] } ?? [:]
    return try TrustedProxies(proxies).client(of: .of(nil, headers, address: address))
  }

  @Test("the client is the last address that is no proxy's, and only a proxy is believed")
  func clients() throws {
    for (proxies, address, forwarded, client) in [
      ([], "192.0.2.9", "198.51.100.1", "192.0.2.9"),
      (["127.0.0.1"], "127.0.0.1", nil, "127.0.0.1"),
      (["127.0.0.1"], "127.0.0.1", "198.51.100.1", "198.51.100.1"),
      (["127.0.0.1"], "192.0.2.9", "198.51.100.1", "192.0.2.9"),
      // Whoever adds a field of their own stands in front of what the proxy adds.
      (["127.0.0.1"], "127.0.0.1", "203.0.113.7, 198.51.100.1", "198.51.100.1"),
      (["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", "198.51.100.1, 10.1.2.3", "198.51.100.1"),
      (["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", "10.1.2.3", "10.1.2.3"),
      (["127.0.0.1"], "127.0.0.1", "198.51.100.1:4711", "198.51.100.1"),
      (["::1"], "::1", "[2001:db8::1]:443", "2001:db8::1"),
      (["::1"], "::1", "2001:db8::1", "2001:db8::1"),
      (["127.0.0.1"], "::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"),
      (["127.0.0.1"], "127.0.0.1", "198.51.100.1, unknown", "127.0.0.1"),
      (["127.0.0.1"], "127.0.0.1", "", "127.0.0.1"),
      (["10.0.0.0/9"], "10.128.0.1", "198.51.100.1", "10.128.0.1"),
      (["0.0.0.0/0"], "10.128.0.1", "198.51.100.1", "198.51.100.1"),
    ] as [([String], String, String?, String)] {
      #expect(
        try Self.client(proxies, address, forwarded) == client,
        "\(proxies), \(address), \(forwarded ?? "-")")
    }
    let many = Array(repeating: "127.0.0.1", count: 10_000).joined(separator: ",")
    #expect(try Self.client(["127.0.0.1"], "127.0.0.1", many) == "127.0.0.1")
  }

  @Test("HTTPS counts where a proxy says so")
  func secure() throws {
    let proxies = try TrustedProxies(["127.0.0.1"])
    for (address, proto, isSecure) in [
      ("127.0.0.1", "https", true), ("127.0.0.1", "HTTPS", true), ("127.0.0.1", "http", false),
      ("127.0.0.1", "https, http", false), ("127.0.0.1", "http, https", true),
      ("127.0.0.1", "http,\thttps ", true), ("127.0.0.1", "https,", false),
      ("192.0.2.1", "https", false),
    ] {
      let head = RequestHead.of(nil, ["x-forwarded-proto": proto], address: address)
      #expect(proxies.isSecure(head) == isSecure, "\(address), \(proto)")
    }
    #expect(!proxies.isSecure(.of(nil, address: "127.0.0.1")))
  }

  @Test("the host is the last word of a proxy's field, and only a proxy is believed")
  func hosts() throws {
    let proxies = try TrustedProxies(["127.0.0.1"])
    for (address, forwarded, host) in [
      ("127.0.0.1", "Push.example.com", "push.example.com"),
      ("127.0.0.1", "evil.example.com, push.example.com", "push.example.com"),
      ("127.0.0.1", "evil.example.com,", ""), ("127.0.0.1", nil, "inner"),
      ("192.0.2.1", "evil.example.com", "inner"),
    ] as [(String, String?, String)] {
      var headers = ["host": "inner"]
      headers["x-forwarded-host"] = forwarded
      let found = proxies.host(of: .of(nil, headers, address: address))
      #expect(found == host, "\(address), \(forwarded ?? "-")")
    }
  }

  @Test("of several fields a proxy's stands last, whatever the client has sent before it")
  func severalFields() throws {
    let headers = APIResponder.headers([
      (name: "x-forwarded-proto", value: "https"), (name: "x-forwarded-host", value: "evil"),
      (name: "x-forwarded-for", value: "203.0.113.7"), (name: "accept-language", value: "de"),
      (name: "x-forwarded-proto", value: "http"), (name: "x-forwarded-host", value: "own"),
      (name: "x-forwarded-for", value: "198.51.100.1"), (name: "accept-language", value: "fr"),
    ])
    #expect(headers["accept-language"] == "de")
    let proxies = try TrustedProxies(["127.0.0.1"])
    let head = RequestHead.of(nil, headers, address: "127.0.0.1")
    #expect(!proxies.isSecure(head))
    #expect(proxies.host(of: head) == "own")
    #expect(proxies.client(of: head) == "198.51.100.1")
  }

  @Test("what is neither an address nor a network is refused, with its position")
  func wrong() throws {
    for text in ["", "localhost", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::1/129", "1.2.3"] {
      let error = try #require(throws: InvalidField.self) {
        try TrustedProxies(["127.0.0.1", text])
      }
      #expect(error.pointer == "/1", "\(text)")
    }
  }

  @Test("an IPv6 network of 64 bits has one rate, and addresses of IPv4 one each")
  func rateNames() throws {
    func name(_ text: String) throws -> String { try #require(PeerAddress(text)).rateName }
    #expect(try name("2001:db8::1") == name("2001:db8::ffff:1"))
    #expect(try name("2001:db8::1") != name("2001:db8:0:1::1"))
    #expect(try name("192.0.2.1") != name("192.0.2.2"))
    #expect(try name("192.0.2.1") == name("::ffff:192.0.2.1"))
    #expect(try name("fe80::1%eth0") == name("fe80::1"))
  }
}

extension RequestHead {
  static func of(
    _ credential: String?, _ headers: [String: String], address: String
  ) -> RequestHead {
    .of(credential, .get, path: "/v1/fleet", headers, address: address)
  }
}
