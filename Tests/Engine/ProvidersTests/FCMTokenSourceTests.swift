import Foundation
import HTTPClient
import LocalServices
import Model
import Synchronization
import TestSupport
import Testing

@testable import Providers

@Suite("FCM bearer tokens")
struct FCMTokenSourceTests {
  /// What the token server answers next, and what it was asked.
  final class Script: Sendable {
    let responses: Mutex<[String]>
    let bodies = Mutex<[String]>([])
    let gate: DispatchSemaphore?

    init(_ responses: [String], gate: DispatchSemaphore? = nil) {
      self.responses = Mutex(responses)
      self.gate = gate
    }

    func answer(_ request: LocalServer.Request) -> String {
      bodies.withLock { $0.append(request.body) }
      gate?.wait()
      return responses.withLock { $0.isEmpty ? "" : $0.removeFirst() }
    }
  }

  final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func increment() {
      value.withLock { $0 += 1 }
    }
  }

  let clock = TestClock()

  @Test("the exchange sends a signed assertion and yields a bearer token")
  func exchange() async throws {
    let script = Script([token("abc")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, publicKeyPEM) = try make(server)
    let credential = try await source.current()
    #expect(credential.header == "Bearer abc")
    #expect(credential.expiresAtMs == clock.nowMs + 3_599_000)
    #expect(credential.refreshAtMs == clock.nowMs + 3_599_000 - 300_000)

    let form = try #require(script.bodies.withLock { $0.first })
    let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    #expect(form.hasPrefix(prefix))
    let assertion = try #require(SignedToken(form.dropFirst(prefix.count)))
    #expect(assertion.isSigned(by: publicKeyPEM))
    #expect(assertion.claims["iss"] == .string("pushpool@demo-shop.iam.gserviceaccount.com"))
    #expect(assertion.claims["aud"] == .string("http://127.0.0.1:\(server.port)/token"))
    #expect(
      assertion.claims["scope"]
        == .string("https://www.googleapis.com/auth/firebase.messaging"))
    #expect(assertion.claims["iat"] == .integer(clock.nowMs / 1_000))
    #expect(assertion.claims["exp"] == .integer(clock.nowMs / 1_000 + 3_600))
  }

  @Test("a hundred lanes that ask at once cause one exchange")
  func singleFlight() async throws {
    let gate = DispatchSemaphore(value: 0)
    let script = Script([token("one"), token("two")], gate: gate)
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let asked = Counter()
    let headers = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          asked.increment()
          return try? await source.current().header
        }
      }
      // The server holds its answer until all of them have asked.
      while asked.count < 100 { await Task.yield() }
      gate.signal()
      var headers: Set<String?> = []
      for await header in group { headers.insert(header) }
      return headers
    }
    #expect(headers == ["Bearer one"])
    #expect(server.requestCount == 1)
  }

  @Test("five minutes before it expires a token is renewed behind the back of those who use it")
  func earlyRenewal() async throws {
    let gate = DispatchSemaphore(value: 0)
    gate.signal()
    let script = Script([token("old"), token("new")], gate: gate)
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let old = try await source.current()
    clock.advance(minutes: 54)
    #expect(try await source.current() == old)
    #expect(server.requestCount == 1)
    clock.advance(minutes: 1)
    // The server holds the answer, so nobody can have waited for it.
    #expect(try await source.current() == old)
    #expect(try await source.current() == old)
    gate.signal()
    while try await source.current() == old { await Task.yield() }
    #expect(try await source.current().header == "Bearer new")
    #expect(server.requestCount == 2)
  }

  @Test("a refused token is renewed once, for all lanes that report it")
  func refused() async throws {
    let script = Script([token("bad"), token("good"), token("surplus")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let bad = try await source.current()
    await withTaskGroup(of: String?.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try? await source.refused(generation: bad.generation, reason: "UNAUTHENTICATED").header
        }
      }
      for await header in group { #expect(header == "Bearer good") }
    }
    // A lane that was slow to notice.
    let late = try await source.refused(generation: bad.generation, reason: "UNAUTHENTICATED")
    #expect(late.header == "Bearer good")
    #expect(server.requestCount == 2)
  }

  @Test("tokens that are refused one after the other are got later each time")
  func refusedTwice() async throws {
    let script = Script([token("a"), token("b"), token("c"), token("d")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let first = try await source.current()
    var refused = try await source.refused(
      generation: first.generation, reason: "UNAUTHENTICATED")
    for (seconds, header) in [(1, "Bearer c"), (2, "Bearer d")] as [(Int64, String)] {
      clock.advance(ms: 3_000)
      let count = server.requestCount
      let pause = try #require(
        await failure {
          try await source.refused(generation: refused.generation, reason: "UNAUTHENTICATED")
        })
      #expect(pause.resumeAtMs == clock.nowMs + seconds * 1_000)
      #expect(pause.reason.contains("demo-shop"))
      #expect(await failure { try await source.current() } == pause)
      #expect(server.requestCount == count)
      clock.advance(ms: seconds * 1_000)
      refused = try await source.current()
      #expect(refused.header == header)
    }
  }

  @Test("a failed exchange backs off, longer each time, and asks nobody meanwhile")
  func backOff() async throws {
    let down = LocalServer.response(status: "503 Service Unavailable", body: "")
    let script = Script([down, down, token("up")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let first = try #require(await failure { try await source.current() })
    #expect((500...1_000).contains(first.resumeAtMs - clock.nowMs))
    #expect(first.reason.contains("status 503"))
    #expect(await failure { try await source.current() } == first)
    #expect(server.requestCount == 1)
    clock.advance(ms: 1_000)
    let second = try #require(await failure { try await source.current() })
    #expect((1_000...2_000).contains(second.resumeAtMs - clock.nowMs))
    clock.advance(ms: 2_000)
    #expect(try await source.current().header == "Bearer up")
  }

  @Test("Retry-After of the token server is kept")
  func retryAfter() async throws {
    let script = Script([
      LocalServer.response(
        status: "429 Too Many Requests", headers: "Retry-After: 120\r\n", body: "")
    ])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let error = try #require(await failure { try await source.current() })
    #expect(error.resumeAtMs == clock.nowMs + 120_000)
  }

  @Test("invalid_grant names the account and hints at the clock, without the assertion")
  func invalidGrant() async throws {
    let body = #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#
    let script = Script([LocalServer.response(status: "400 Bad Request", body: body)])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let error = try #require(await failure { try await source.current() })
    #expect(error.reason.contains("invalid_grant, Invalid JWT Signature."))
    #expect(error.reason.contains("pushpool@demo-shop.iam.gserviceaccount.com"))
    #expect(error.reason.contains("clock"))
    #expect(!error.reason.contains("eyJ"))
    #expect(error.resumeAtMs == clock.nowMs + 60_000)
  }

  @Test(
    "an answer without a usable token is a failure",
    arguments: [
      "{}", "", "[]", #"{"access_token":"a"}"#, #"{"access_token":"a\r\nb","expires_in":3600}"#,
      #"{"access_token":"","expires_in":3600}"#, #"{"access_token":"a","expires_in":0}"#,
    ])
  func unusable(body: String) async throws {
    let script = Script([LocalServer.response(body: body)])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let error = try #require(await failure { try await source.current() })
    #expect(error.reason.contains("without a usable access_token"))
    #expect((500...1_000).contains(error.resumeAtMs - clock.nowMs), "a moment, and not a minute")
  }

  @Test("a refusal that is not OAuth's own is soon tried again")
  func foreignRefusal() async throws {
    let page = LocalServer.response(status: "404 Not Found", body: "<html>not here</html>")
    let script = Script([page, token("good")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let error = try #require(await failure { try await source.current() })
    #expect((500...1_000).contains(error.resumeAtMs - clock.nowMs))
    clock.advance(ms: 1_000)
    #expect(try await source.current().header == "Bearer good")
  }

  @Test("while the token server is down a token that is still good goes on")
  func survivesOutage() async throws {
    let script = Script([token("old")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    let old = try await source.current()
    clock.advance(minutes: 57)
    // The script is at its end: the server closes without an answer from here on.
    #expect(try await source.current() == old)
    clock.advance(minutes: 3)
    #expect(await failure { try await source.current() } != nil)
  }

  @Test(
    "whatever expires_in says, a token lives for a day at most or is refused",
    arguments: [
      "9223372036854775807", "9223372036854775808", "-9223372036854775808", "0", "-1", "1e400",
      "1", "86401", "3599.5", "\"3599\"", "null",
    ])
  func strangeLife(expiresIn: String) async throws {
    let script = Script([
      LocalServer.response(body: #"{"access_token":"a","expires_in":\#(expiresIn)}"#)
    ])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (source, _) = try make(server)
    do {
      let credential = try await source.current()
      #expect(credential.expiresAtMs > clock.nowMs)
      #expect(credential.expiresAtMs <= clock.nowMs + CredentialLimits.fcmTokenLifeMsMax)
    } catch { #expect(error.reason.contains("expires_in")) }
  }

  // MARK: Sharing

  func token(_ text: String) -> String {
    LocalServer.response(
      body: #"{"access_token":"\#(text)","expires_in":3599,"token_type":"Bearer"}"#)
  }

  private func make(_ server: LocalServer) throws -> (FCMTokenSource, publicKeyPEM: String) {
    let folder = try TemporaryFolder()
    let file = try FCMServiceAccount(
      folder: folder.path, tokenURI: "http://127.0.0.1:\(server.port)/token")
    let source = FCMTokenSource(
      account: try ServiceAccount(file: file.file), client: HTTPClient(), clock: clock.wallClock)
    return (source, file.publicKeyPEM)
  }

  func failure(_ body: () async throws -> Credential) async -> CredentialError? {
    do {
      _ = try await body()
      return nil
    } catch { return error as? CredentialError }
  }
}
