import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Providers

@Suite struct CertificateExpiryTests {
  private static let dayMs: Int64 = 86_400_000

  @Test(
    "the end of a real certificate is read, from PEM and from PKCS#12", arguments: [-1, 20, 400])
  func readsTheEnd(days: Int) throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueClient(
      commonName: "push", p12Password: "open", validDays: days)
    let p12 = try #require(issued.p12File)
    for identity in [
      try ClientIdentity(file: issued.combinedFile),
      try ClientIdentity(file: p12, password: "open"),
    ] {
      let leftMs = try #require(identity.expiresAtMs) - WallClock.system.nowMs()
      // It was made within the last hour.
      let expected = Int64(days) * Self.dayMs
      #expect((expected - 3_600_000...expected + 1_000).contains(leftMs))
    }
  }

  @Test("it is told of from 30 days before on, and as the cause when it is past")
  func tells() throws {
    let nowMs: Int64 = 1_790_000_000_000
    func expiry(_ leftMs: Int64) -> CertificateExpiry {
      CertificateExpiry(.file("/etc/shop.p12"), expiresAtMs: nowMs + leftMs)
    }
    #expect(expiry(31 * Self.dayMs).sentence(nowMs: nowMs) == nil)
    #expect(
      expiry(31 * Self.dayMs).term == "the certificate /etc/shop.p12 holds until 2026-10-22")
    let soon = expiry(20 * Self.dayMs)
    #expect(
      soon.sentence(nowMs: nowMs)?.hasPrefix(
        "the certificate /etc/shop.p12 expires on 2026-10-11, in 20 days: get a new one") == true)
    #expect(soon.cause(nowMs: nowMs) == nil)
    let past = expiry(-Self.dayMs)
    #expect(past.cause(nowMs: nowMs) == "the certificate /etc/shop.p12 expired on 2026-09-20")
    let sentence = try #require(past.sentence(nowMs: nowMs))
    #expect(sentence.contains("replace the file") && !sentence.contains("restart"))
  }

  @Test("the certificate of an app in Redis is no file, and a command replaces it")
  func tellsOfRedis() async throws {
    let nowMs: Int64 = 1_790_000_000_000
    let soon = CertificateExpiry(.redis, expiresAtMs: nowMs + 20 * Self.dayMs)
    let past = CertificateExpiry(.redis, expiresAtMs: nowMs - Self.dayMs)
    for (expiry, words) in [(soon, "expires on 2026-10-11"), (past, "expired on 2026-09-20")] {
      let sentence = try #require(expiry.sentence(nowMs: nowMs))
      #expect(sentence.hasPrefix("the certificate of the app in Redis \(words)"))
      #expect(sentence.contains("(pushpool app set)") && !sentence.contains("file"))
    }
    let source = CertificateCredentialSource(
      .redis, expiresAtMs: past.expiresAtMs, clock: WallClock { nowMs })
    let error = await #expect(throws: CredentialError.self) {
      _ = try await source.refused(generation: 0, reason: "BadCertificate")
    }
    let reason = try #require(error?.reason)
    #expect(reason.contains("pushpool app set") && !reason.contains("file"), "\(reason)")
  }

  @Test("APNs' refusal of a certificate that has expired names that as the cause")
  func namesTheCause() async {
    let nowMs: Int64 = 1_790_000_000_000
    let source = CertificateCredentialSource(
      .file("/etc/shop.p12"), expiresAtMs: nowMs - Self.dayMs, clock: WallClock { nowMs })
    do throws(CredentialError) {
      _ = try await source.refused(generation: 0, reason: "BadCertificate")
      Issue.record("a refused certificate is handed out again")
    } catch {
      #expect(error.reason.contains("BadCertificate; the certificate /etc/shop.p12 expired on"))
    }
  }

  @Test(
    "what Google gives as the reason of a refusal is named with its remedy",
    arguments: [
      ("SERVICE_DISABLED", "enable the Firebase Cloud Messaging API"),
      ("IAM_PERMISSION_DENIED", "give push@demo the role"),
    ])
  func namesGooglesReason(reason: String, remedy: String) throws {
    #expect(
      FCMRefusal.remedy(reason, project: "demo", account: "push@demo")?.contains(remedy) == true)
    #expect(FCMRefusal.remedy("SOMETHING_NEW", project: "demo", account: "push@demo") == nil)
    let body = """
      {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no",
       "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "\(reason)",
                    "domain": "googleapis.com"}]}}
      """
    let classification = Array(body.utf8).withUnsafeBytes {
      FCMError(
        ProviderAnswer(
          status: 403, retryAfterSeconds: nil, body: $0, isBodyCut: false, isDryRun: false))
    }
    #expect(classification?.infoReason == reason)
  }
}
