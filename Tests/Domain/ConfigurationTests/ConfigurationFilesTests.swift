import Foundation
import PushpoolConfiguration
import Testing

@Suite struct ConfigurationFilesTests {
  /// A folder of this test's own that goes when the test does.
  private static func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("pushpool-configuration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  private static func write(_ text: String, _ name: String, in folder: URL) throws -> String {
    let file = folder.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  @Test("relative paths begin at the folder of the configuration, and missing files are named")
  func missingFiles() throws {
    try Self.inFolder { folder in
      let yaml = """
        redis: {password_file: there}
        apps:
          - id: shop
            fcm:
              service_account_file: missing.json
              ca_file: .
        """
      _ = try Self.write("pw", "there", in: folder)
      let path = try Self.write(yaml, "pushpool.yaml", in: folder)
      let configuration = try Configuration.load(file: path, environment: [:])
      let errors = configuration.validateFilesExist()
      #expect(
        errors.map(\.description) == [
          "\(path):5: apps[0].fcm.service_account_file: \(folder.path)/missing.json cannot be "
            + "read: No such file or directory",
          "\(path):6: apps[0].fcm.ca_file: \(folder.path)/. is not a regular file",
        ])
      #expect(try configuration.redis.password()?.text == "pw")
    }
  }

  @Test("a secret that everybody may read is told, and one that everybody may write is refused")
  func permissions() throws {
    try Self.inFolder { folder in
      let yaml = """
        redis: {password_file: password}
        apps:
          - id: shop
            fcm: {service_account_file: link, ca_file: ca}
            jpush: {app_key: a, master_secret_file: account}
        """
      let secret = try Self.write("pw", "password", in: folder)
      let account = try Self.write("{}", "account", in: folder)
      let authority = try Self.write("x", "ca", in: folder)
      // As Kubernetes mounts a secret.
      let link = folder.appendingPathComponent("link").path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: account)
      let path = try Self.write(yaml, "pushpool.yaml", in: folder)
      let configuration = try Configuration.load(file: path, environment: [:])
      chmod(authority, 0o666)
      for (mode, isTold, isRefused) in [
        (0o600, false, false), (0o640, false, false), (0o440, false, false), (0o644, true, false),
        (0o604, true, false), (0o666, true, true), (0o602, false, true),
      ] {
        chmod(secret, mode_t(mode))
        chmod(account, mode_t(mode))
        let told = configuration.secretsReadableByAll()
        #expect(told.count == (isTold ? 3 : 0), "\(String(mode, radix: 8))")
        #expect(!isTold || told[0].contains("\(secret) has mode 0\(String(mode, radix: 8))"))
        #expect(!isTold || told[1].contains(link))
        let refused = configuration.validateFilesExist()
        #expect(refused.count == (isRefused ? 3 : 0), "\(String(mode, radix: 8))")
        #expect(!isRefused || refused[0].description.contains("redis.password_file: \(secret) has"))
      }
    }
  }

  @Test("a configuration with Redis's password in it that everybody may read is told")
  func ownPermissions() throws {
    try Self.inFolder { folder in
      let with = "redis: {url: \"redis://push:secret@localhost\"}"
      let without = "redis: {url: \"redis://push:@localhost\"}"
      for (yaml, mode, variables, isTold) in [
        (with, 0o644, [:], true), (with, 0o604, [:], true), (with, 0o600, [:], false),
        (with, 0o640, [:], false), (without, 0o644, [:], false),
        (with, 0o644, ["PUSHPOOL_REDIS_URL": "redis://:other@localhost"], false),
      ] {
        let path = try Self.write(yaml, "pushpool.yaml", in: folder)
        chmod(path, mode_t(mode))
        let told = try Configuration.load(file: path, environment: variables).secretsReadableByAll()
        #expect(told.count == (isTold ? 1 : 0), "\(yaml) \(String(mode, radix: 8)): \(told)")
        #expect(
          !isTold || told[0].hasPrefix("redis.url: \(path) has mode 0\(String(mode, radix: 8))"))
        #expect(!told.joined().contains("secret@"))
      }
    }
  }

  @Test(
    "a password in a variable's URL goes before the file's password_file, and the other way round")
  func passwordOutside() throws {
    try Self.inFolder { folder in
      let secret = try Self.write("of the file", "password", in: folder)
      let path = try Self.write("redis: {password_file: password}", "a.yaml", in: folder)
      let configuration = try Configuration.load(
        file: path, environment: ["PUSHPOOL_REDIS_URL": "redis://operator:own@localhost"])
      #expect(try configuration.redis.password() == Secret("own"))
      let gone = try Self.write("redis: {password_file: none}", "c.yaml", in: folder)
      let lacking = try Configuration.load(
        file: gone, environment: ["PUSHPOOL_REDIS_URL": "redis://operator:own@localhost"])
      #expect(lacking.validateFilesExist().isEmpty, "a file that is displaced need not be there")
      let bare = try Configuration.load(
        file: path, environment: ["PUSHPOOL_REDIS_URL": "redis://operator:@localhost"])
      #expect(try bare.redis.password() == Secret("of the file"))
      let other = try Self.write("redis: {url: 'redis://:own@localhost'}", "b.yaml", in: folder)
      let displaced = try Configuration.load(
        file: other, environment: ["PUSHPOOL_REDIS_PASSWORD_FILE": secret])
      #expect(try displaced.redis.password() == Secret("of the file"))
      #expect(throws: ConfigurationError.self) {
        try Configuration.load(
          file: path,
          environment: [
            "PUSHPOOL_REDIS_URL": "redis://:own@localhost", "PUSHPOOL_REDIS_PASSWORD_FILE": secret,
          ])
      }
    }
  }

  @Test("a password file loses its last newlines, and an empty one is refused")
  func passwordFile() throws {
    try Self.inFolder { folder in
      var redis = RedisConfiguration()
      redis.passwordFile = try Self.write(" pw \r\n\n", "password", in: folder)
      #expect(try redis.password() == Secret(" pw "))
      redis.passwordFile = try Self.write("\n", "empty", in: folder)
      #expect(throws: ConfigurationError.self) { try redis.password() }
      redis.passwordFile = folder.path
      #expect(throws: ConfigurationError.self) { try redis.password() }
      redis.passwordFile = try Self.write(
        String(repeating: "x", count: ConfigurationLimits.secretFileBytesMax + 1), "long",
        in: folder)
      #expect(throws: ConfigurationError.self) { try redis.password() }
    }
  }

  @Test("a configuration that is missing, too long or not UTF-8 is refused with its path")
  func badFiles() throws {
    try Self.inFolder { folder in
      let missing = folder.appendingPathComponent("none.yaml").path
      #expect(Self.complaint(missing) == "\(missing): cannot be read: No such file or directory")
      #expect(Self.complaint(folder.path) == "\(folder.path): is not a regular file")
      let long = try Self.write(
        String(repeating: "#", count: ConfigurationLimits.fileBytesMax + 1), "long", in: folder)
      #expect(
        Self.complaint(long)
          == "\(long): is longer than \(ConfigurationLimits.fileBytesMax) bytes")
      let latin = folder.appendingPathComponent("latin")
      try Data([0x61, 0x3A, 0xE9]).write(to: latin)
      #expect(Self.complaint(latin.path) == "\(latin.path): is not valid UTF-8")
      let empty = try Self.write("", "empty", in: folder)
      #expect(Self.complaint(empty) == "accepted")
    }
  }

  private static func complaint(_ file: String) -> String {
    do {
      _ = try Configuration.load(file: file, environment: [:])
      return "accepted"
    } catch { return "\(error)" }
  }
}
