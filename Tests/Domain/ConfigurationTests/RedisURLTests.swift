import Configuration
import Model
import Testing

@Suite struct RedisURLTests {
  @Test(
    "a URL of Redis is read",
    arguments: [
      ("redis://localhost", RedisURL(server: .tcp(host: "localhost", port: 6379, tls: false))),
      (
        "redis://10.0.0.1:7000/3",
        RedisURL(server: .tcp(host: "10.0.0.1", port: 7000, tls: false), database: 3)
      ),
      ("redis://h/", RedisURL(server: .tcp(host: "h", port: 6379, tls: false))),
      ("rediss://[::1]:7000", RedisURL(server: .tcp(host: "::1", port: 7000, tls: true))),
      (
        "REDIS://:p%40%3A%2F@h",
        RedisURL(
          server: .tcp(host: "h", port: 6379, tls: false), password: Secret("p@:/"))
      ),
      (
        "redis://me:pw@h",
        RedisURL(
          server: .tcp(host: "h", port: 6379, tls: false), user: "me", password: Secret("pw"))
      ),
      ("unix:///run/redis.sock", RedisURL(server: .unix(path: "/run/redis.sock"))),
      (
        "unix://:pw@/run/redis.sock?db=2",
        RedisURL(
          server: .unix(path: "/run/redis.sock"), password: Secret("pw"), database: 2)
      ),
    ])
  func reads(text: String, expected: RedisURL) throws {
    #expect(try RedisURL(text) == expected)
  }

  @Test(
    "a bad URL of Redis is refused",
    arguments: [
      "", "localhost", "http://localhost", "redis://", "redis://:6379", "redis://h:0",
      "redis://h:65536", "redis://h:x", "redis://h:+1", "redis://h/x", "redis://h/-1",
      "redis://h/99999", "redis://pw@h", "redis://:%4@h", "redis://:%zz@h", "redis://:%+1@h",
      "redis://:%00@h", "redis://:%ff@h", "redis://a b", "redis://h\r\n", "redis://h/0/1",
      "unix://run/redis.sock", "unix://", "unix:///s?x=1", "redis://[::1", "redis://[::1]x",
      "unix:///\(String(repeating: "x", count: 107))",
      "redis://\(String(repeating: "x", count: 254))",
    ])
  func refuses(text: String) {
    #expect(throws: InvalidField.self) { try RedisURL(text) }
  }

  @Test("no way of printing a URL shows its password")
  func passwordStaysOut() throws {
    let url = try RedisURL("redis://me:hunter2@h:1/2")
    var dumped = ""
    dump(RedisConfiguration(url: url), to: &dumped)
    dump(url, to: &dumped)
    for text in [
      dumped, "\(url)", String(reflecting: url), String(describing: RedisConfiguration(url: url)),
      String(reflecting: Configuration(redis: RedisConfiguration(url: url))),
      "\(Secret("hunter2"))", String(reflecting: Secret("hunter2")),
    ] {
      #expect(!text.contains("hunter2"), "\(text)")
    }
    #expect("\(url)" == "redis://h:1/2")
    #expect(try RedisURL("unix://:a@/s?db=1").description == "unix:///s?db=1")
  }
}
