import Model
import PushpoolConfiguration
import Testing

@Suite struct ServiceURLTests {
  @Test("a host alone has the port of https")
  func defaultPort() throws {
    let url = try ServiceURL("https://api.push.apple.com")
    #expect(url.host == "api.push.apple.com")
    #expect(url.port == 443)
    #expect(url.path.isEmpty)
    #expect(try ServiceURL("https://localhost:8443/").port == 8443)
  }

  @Test("a path is for those who ask for one")
  func path() throws {
    #expect(try ServiceURL("https://h/token?x=1", allowsPath: true).path == "/token?x=1")
    #expect(throws: InvalidField.self) { try ServiceURL("https://h/token") }
    #expect(throws: InvalidField.self) { try ServiceURL("https://h/a b", allowsPath: true) }
    #expect(throws: InvalidField.self) { try ServiceURL("https://h/a\r\nb", allowsPath: true) }
  }

  @Test(
    "what is not https://host:port is refused",
    arguments: [
      "", "h", "http://h", "https://", "https://:1", "https://h:0", "https://h:70000",
      "https://u:p@h", "https://h?x", "https://h#x", "https://h\r\nX: y", "https://h:1:2",
    ])
  func refuses(text: String) {
    #expect(throws: InvalidField.self) { try ServiceURL(text) }
  }

  @Test("a proxy is http, socks5 or socks5h://host:port without credentials")
  func proxy() throws {
    let proxy = try ProxyURL("http://proxy.example:8080/")
    #expect(proxy.host == "proxy.example")
    #expect(proxy.port == 8080)
    #expect(try ProxyURL("http://p").port == 3_128)
    #expect(try ProxyURL("socks5://p").description == "socks5://p:1080")
    #expect(try ProxyURL("SOCKS5H://[::1]:9/").description == "socks5h://[::1]:9")
    for text in ["https://p", "socks4://p", "socks5://u:p@p", "http://u:p@p", "http://p/x", "p:1"] {
      #expect(throws: InvalidField.self) { try ProxyURL(text) }
    }
  }
}
