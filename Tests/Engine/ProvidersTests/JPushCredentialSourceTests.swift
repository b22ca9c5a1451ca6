import PushpoolConfiguration
import Testing

@testable import Providers

@Suite("JPush's master secret")
struct JPushCredentialSourceTests {
  private let clock = TestClock()

  @Test("a refused secret pauses, and the reason says what to check")
  func refused() async throws {
    let source = make("secret")
    let credential = try await source.current()
    var complaint = ""
    do throws(CredentialError) {
      _ = try await source.refused(
        generation: credential.generation, reason: "1004 authentication failed")
      Issue.record("a secret was renewed")
    } catch {
      complaint = error.reason
    }
    #expect(complaint.contains("app key 7d43"))
    #expect(complaint.contains("/etc/jpush.secret"))
    #expect(complaint.contains("1004 authentication failed"))
    #expect(!complaint.contains("restart"), "workers notice another file")
    clock.advance(ms: 999)
    await #expect(throws: CredentialError.self) { try await source.current() }
    clock.advance(ms: 1)
    #expect(try await source.current() == credential)
  }

  @Test("of an app in Redis the reason names the command that sets the secret, and no file")
  func refusedInRedis() async throws {
    let error = await #expect(throws: CredentialError.self) {
      _ = try await make("secret", .redis).refused(generation: 0, reason: "1004")
    }
    let complaint = try #require(error?.reason)
    #expect(complaint.contains("app key 7d43 with its master secret: 1004"), "\(complaint)")
    #expect(complaint.contains("(pushpool app set)") && !complaint.contains("file"))
  }

  @Test("the reason holds no secret, plain or encoded")
  func hidden() async throws {
    let source = make("secret")
    #expect(try await source.current().header == "Basic N2Q0MzpzZWNyZXQ=")
    do throws(CredentialError) {
      _ = try await source.refused(generation: 0, reason: "1004 authentication failed")
    } catch {
      #expect(!error.reason.contains("N2Q0MzpzZWNyZXQ="))
    }
  }

  @Test(
    "app key and secret are encoded with padding", arguments: ["", "s", "se", "sec", "秘密"])
  func encoding(secret: String) async throws {
    let expected = [
      "": "N2Q0Mzo=", "s": "N2Q0Mzpz", "se": "N2Q0MzpzZQ==", "sec": "N2Q0MzpzZWM=",
      "秘密": "N2Q0Mzrnp5jlr4Y=",
    ]
    #expect(try await make(secret).current().header == expected[secret].map { "Basic " + $0 })
  }

  private func make(
    _ secret: String, _ place: SecretPlace = .file("/etc/jpush.secret")
  ) -> JPushCredentialSource {
    JPushCredentialSource(
      appKey: "7d43", secret: Secret(secret), place: place, clock: clock.wallClock)
  }
}
