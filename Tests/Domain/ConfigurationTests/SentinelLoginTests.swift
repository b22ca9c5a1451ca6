import Foundation
import PushpoolConfiguration
import Testing

/// The users and files of sentinels, which are not those of Redis.
@Suite struct SentinelLoginTests {
  private static let url = "redis+sentinel://push:@s1,s2/main"

  @Test("sentinels have a user, a password and authorities of their own")
  func own() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("pushpool-sentinel-\(UUID().uuidString)").path
    try "secret\n".write(toFile: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: file) }
    let configuration = try ConfigurationTests.parse(
      """
      redis:
        url: "\(Self.url)"
        sentinel_user: asking
        sentinel_password_file: \(file)
        sentinel_ca_file: /ca.pem
      """)
    let login = configuration.redis.sentinel
    #expect(login == SentinelLogin(user: "asking", passwordFile: file, caFile: "/ca.pem"))
    #expect(try login.password() == Secret("secret"))
    #expect(configuration.redis.url.user == "push")
  }

  @Test("a variable that names another Redis leaves those of the file without a meaning")
  func displaced() throws {
    let yaml = "redis: {url: '\(Self.url)', sentinel_user: asking}"
    let other = try ConfigurationTests.parse(yaml, ["PUSHPOOL_REDIS_URL": "redis://h"])
    #expect(other.redis.sentinel == SentinelLogin())
    let variable = try ConfigurationTests.parse(
      "", ["PUSHPOOL_REDIS_URL": Self.url, "PUSHPOOL_REDIS_SENTINEL_USER": "asking"])
    #expect(variable.redis.sentinel.user == "asking")
    #expect(variable.unusedVariables.isEmpty)
  }

  @Test("a cluster goes with a prefix that is a hash tag")
  func cluster() throws {
    let configuration = try ConfigurationTests.parse(
      "redis: {url: 'redis+cluster://n1,n2', prefix: '{pushpool}'}")
    #expect(
      configuration.redis.url.server
        == .cluster(
          [HostAndPort(host: "n1", port: 6379), HostAndPort(host: "n2", port: 6379)], tls: false))
  }
}
