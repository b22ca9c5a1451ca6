import Model
import PushpoolConfiguration
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
      (
        "redis+sentinel://s1,s2:7000,[::1]/my-master",
        RedisURL(
          server: .sentinels(
            [
              HostAndPort(host: "s1", port: 26379), HostAndPort(host: "s2", port: 7000),
              HostAndPort(host: "::1", port: 26379),
            ], master: "my-master", tls: false))
      ),
      (
        "rediss+sentinel://me:p%2C%2F@s1/m?db=3",
        RedisURL(
          server: .sentinels([HostAndPort(host: "s1", port: 26379)], master: "m", tls: true),
          user: "me", password: Secret("p,/"), database: 3)
      ),
      (
        "redis+cluster://n1,n2:7001/",
        RedisURL(
          server: .cluster(
            [HostAndPort(host: "n1", port: 6379), HostAndPort(host: "n2", port: 7001)], tls: false))
      ),
      (
        "rediss+cluster://:pw@n1",
        RedisURL(
          server: .cluster([HostAndPort(host: "n1", port: 6379)], tls: true),
          password: Secret("pw"))
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
      "redis+sentinel://", "redis+sentinel://s1", "redis+sentinel://s1/", "redis+sentinel:///m",
      "redis+sentinel://s1,/m", "redis+sentinel://s1,s1/m", "redis+sentinel://s1,s1:26379/m",
      "redis+sentinel://s1/a b", "redis+sentinel://s1/a/b", "redis+sentinel://s1/m?x=1",
      "redis+sentinel://s1/m?db=x", "redis+sentinel://pw@s1/m", "redis+cluster://",
      "redis+cluster://n1,,n2", "redis+cluster://n1/1", "redis+cluster://n1:0", "redis+other://h",
      "redis+sentinel://s1/\(String(repeating: "m", count: 129))",
      "redis+sentinel://\((0..<17).map { "s\($0)" }.joined(separator: ","))/m",
    ])
  func refuses(text: String) {
    #expect(throws: InvalidField.self) { try RedisURL(text) }
  }

  @Test(
    "what a URL of sentinels or of a cluster lacks is told",
    arguments: [
      ("redis://h1,h2", "must name one host: several are sentinels"),
      ("redis+sentinel://s1", "must name the master after the sentinels"),
      ("redis+sentinel://s1,s1/m", "must name its sentinels, 1 to 16 of them"),
      ("redis+sentinel://s1/m?x", "knows only ?db= after the name of a master"),
      ("redis+cluster://n1/3", "must name no database"),
      ("redis+cluster://n1:x", "must name nodes of the cluster"),
    ])
  func explains(text: String, message: String) {
    do throws(InvalidField) {
      Issue.record("accepted: \(try RedisURL(text))")
    } catch { #expect(error.message.contains(message), "\(error.message)") }
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
    for text in [
      "redis+sentinel://s1:26379,[::1]:7000/m", "rediss+sentinel://s1:26379/m?db=2",
      "redis+cluster://n1:6379,n2:7000", "rediss+cluster://n1:6379",
    ] {
      #expect(try RedisURL(text).description == text)
    }
  }
}
