import LocalServices
import Model
import PushpoolConfiguration
import Reactor
import Testing

@testable import Providers
@testable import Redis

/// What strangers can reach takes any bytes: it never crashes or hangs, and a refusal says what is wrong.
@Suite struct ParserFuzzTests {
  /// A refusal is a sentence for a terminal and a log: not empty, not long, nothing that controls one.
  private func expectSentence(_ error: InvalidField) throws {
    let text = "\(error)"
    guard !error.message.isEmpty, text.utf8.count < 1_000 else {
      throw Broken(description: "the refusal \"\(text)\" is empty or long")
    }
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
      throw Broken(description: "the refusal \(text.debugDescription) has control characters")
    }
    guard error.pointer.isEmpty || error.pointer.hasPrefix("/") else {
      throw Broken(description: "\(error.pointer) is no JSON pointer")
    }
  }

  @Test("jobs are refused with field and sentence, or mean the same when written again")
  func jobs() async throws {
    try await FuzzRun.each("jobs") { random in
      let bytes = RandomJSON.document(RandomJSON.jobs, &random)
      let job: Job
      do throws(InvalidField) { job = try Job(bytes: bytes) } catch {
        return try expectSentence(error)
      }
      guard try Job(bytes: job.json().bytes(canonical: true)) == job,
        try JobContent(bytes: job.content.canonicalBytes()) == job.content
      else { throw Broken(description: "\(String(decoding: bytes, as: UTF8.self)) changes") }
    }
  }

  @Test("what a job makes a network be asked has no line break in a header")
  func headers() async throws {
    let providers: [any PushProvider] = try FuzzProvider.all()
    try await FuzzRun.each("headers") { random in
      let bytes = RandomJSON.document(RandomJSON.jobs, &random)
      guard let job = try? Job(bytes: bytes) else { return }
      for provider in providers {
        let rendered: RenderedPush
        do throws(InvalidField) {
          rendered = try provider.render(job.content, createdAtMs: 0, nowMs: 0)
        } catch {
          try expectSentence(error)
          continue
        }
        for header in rendered.headers
        where (header.name + header.value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
          throw Broken(description: "header \(header.name): \(header.value.debugDescription)")
        }
      }
    }
  }

  @Test("installations are refused with field and sentence, or mean the same when written again")
  func installations() async throws {
    try await FuzzRun.each("installations") { random in
      let bytes = RandomJSON.document(RandomJSON.installations, &random)
      let installation: Installation
      do throws(InvalidField) { installation = try Installation(bytes: bytes) } catch {
        return try expectSentence(error)
      }
      guard try Installation(json: installation.json()) == installation else {
        throw Broken(description: "\(String(decoding: bytes, as: UTF8.self)) changes")
      }
    }
  }

  @Test("every answer of a network means something, in a reason fit for a log")
  func answers() async throws {
    let providers: [any PushProvider] = try FuzzProvider.all()
    let sound = [
      #"{"reason":"Unregistered","timestamp":1790000000000}"#,
      #"{"error":{"code":404,"message":"m","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#,
      #"{"error":{"code":1003,"message":"The registration_id 140fe1da9e22a23f92f is invalid!"}}"#,
    ]
    try await FuzzRun.each("answers") { random in
      let body = RandomJSON.document(sound, &random)
      let status = random.pick([200, 400, 403, 404, 410, 413, 429, 500, 503, 0, 999, -1])!
      let after = random.pick([nil, 0, 5, -1, Int.max, Int.min])!
      let outcome = body.withUnsafeBytes { body in
        random.pick(providers)!.classify(
          ProviderAnswer(status: status, retryAfterSeconds: after, body: body))
      }
      switch outcome {
      case .accepted where status != 200:
        throw Broken(description: "status \(status) is taken for an accept")
      case .rejected(let reason), .authRefused(let reason), .doubtfulToken(let reason),
        .invalidToken(let reason, _), .retry(_, let reason), .foreign(let reason):
        guard reason.utf8.count < 300, reason.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
          throw Broken(description: "the reason \(reason.debugDescription)")
        }
      case .accepted: break
      }
    }
  }

  @Test("what stands under a credential's key is no token, or one whose dates can be counted with")
  func sharedTokens() async throws {
    let sound = [
      "1790000000000 eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "1790000000000 ya29.token 3599000",
      "9223372036854775807 x 86400000", "-9223372036854775808 x", "253402300799999 x 86400000",
    ].map { Array($0.utf8) }
    try await FuzzRun.each("shared tokens") { random in
      let text = String(decoding: random.mutated(random.pick(sound)!), as: UTF8.self)
      guard let token = SharedToken(text: text) else { return }
      guard token.text == text, token.issuedAtMs > 0, token.lifeMs >= 0,
        token.refreshAtMs >= token.issuedAtMs,
        token.issuedAtMs + CredentialLimits.fcmTokenLifeMsMax > 0,
        token.token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
      else { throw Broken(description: "\(text.debugDescription) is taken for a token") }
    }
  }

  @Test("RESP is read or refused, and means the same however it is cut")
  func replies() async throws {
    let sound = Array(
      "+OK\r\n:42\r\n$-1\r\n$3\r\na\r\n\r\n*2\r\n$1\r\nx\r\n*1\r\n:7\r\n-ERR no\r\n*-1\r\n".utf8)
    let unasked = Array(
      ",1.5\r\n#t\r\n_\r\n(12\r\n=5\r\ntxt:a\r\n%1\r\n+a\r\n:1\r\n~1\r\n:1\r\n>1\r\n:1\r\n|1\r\n+a\r\n:1\r\n"
        .utf8)
    try await FuzzRun.each("replies") { random in
      let bytes =
        random.chance(percent: 90)
        ? random.mutated(random.chance(percent: 80) ? sound : unasked)
        : (0..<40).map { _ in random.byte() }
      let whole = Self.read(bytes, in: bytes.count + 1)
      let cut = Self.read(bytes, in: 1 + random.below(7))
      // How much comes before a violation may differ, what comes is the same.
      let count = min(whole.count, cut.count)
      guard Array(whole.prefix(count)) == Array(cut.prefix(count)) else {
        throw Broken(description: "\(bytes) are \(whole) or \(cut)")
      }
    }
  }

  private static func read(_ bytes: [UInt8], in size: Int) -> [RESPValue] {
    let reader = ReplyReader(bytesMax: 1 << 20)
    var values: [RESPValue] = []
    do throws(RedisError) {
      for start in stride(from: 0, to: bytes.count, by: size) {
        let part = Array(bytes[start..<min(start + size, bytes.count)])
        try feed(part, to: reader)
        while try reader.next({ values.append(RESPValue($0)) }) {}
      }
    } catch {}
    return values
  }

  private static func feed(_ bytes: [UInt8], to reader: ReplyReader) throws(RedisError) {
    let result = bytes.withUnsafeBytes { bytes -> Result<Void, RedisError> in
      do throws(RedisError) { return .success(try reader.feed(bytes)) } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  @Test("configurations are read, or refused with a sentence that shows no secret")
  func configurations() async throws {
    let sound = """
      redis: {url: "redis://:hunter2@localhost:6379/0", prefix: pushpool}
      worker: {lanes: 2, lease_seconds: 30, drain_seconds: 5}
      log: {level: info}
      apps:
        - id: shop
          apns:
            production: {key_file: /dev/null, key_id: ABC123DEFG, team_id: DEF123GHIJ, topic: com.example}
          fcm: {service_account_file: /dev/null}
      """
    try await FuzzRun.each("configurations") { random in
      let bytes = random.mutated(Array(sound.utf8))
      let text = String(decoding: bytes, as: UTF8.self)
      do throws(ConfigurationError) {
        _ = try Configuration.parse(text, file: "pushpool.yaml")
      } catch {
        // Copied to elsewhere, as into a field's name, it is no secret.
        let isCopied = text.split(separator: "hunter2", omittingEmptySubsequences: false).count > 2
        guard !error.message.isEmpty, isCopied || !"\(error)".contains("hunter2") else {
          throw Broken(description: "\(error)")
        }
      }
    }
  }
}

/// Providers that open no connection.
private enum FuzzProvider {
  static func all() throws -> [any PushProvider] { [try apns(), try fcm(), try jpush()] }

  private static func apns() throws -> APNsProvider {
    APNsProvider(
      topic: "com.example.shop", destination: try destination(),
      credentials: CertificateCredentialSource(.file("test.p12")))
  }

  private static func fcm() throws -> FCMProvider {
    FCMProvider(
      projectID: "demo-shop", destination: try destination(),
      credentials: CertificateCredentialSource(.file("test.p12")))
  }

  private static func jpush() throws -> JPushProvider {
    JPushProvider(
      appKey: "7d43", environment: .production, destination: try destination(),
      credentials: CertificateCredentialSource(.file("test.p12")))
  }

  private static func destination() throws -> PushDestination {
    PushDestination(
      address: ServiceAddress(host: "push.example"),
      tls: try TLSContext.client(caFile: nil, alpn: ["h2"]), proxy: nil,
      startsWithOneStream: false)
  }
}
