import HTTPClient
import LocalServices
import Model
import Providers
import PushpoolConfiguration
import Testing

@testable import Operations

/// What an answer of a push network to the doctor's request means.
@Suite struct NetworkVerdictTests {
  /// The verdicts of an app with every network, by network.
  /// - Parameter access: further members of each network.
  private static func verdicts(
    _ folder: TemporaryFolder, access: [String] = []
  ) throws -> [Network: NetworkVerdict] {
    let keys = try NetworkKeys(folder: folder.path, port: 8443)
    let place = "https://localhost:8443"
    var text = ConfigurationText(
      redisURL: "redis://127.0.0.1",
      apps: [
        .init(apns: [.production: place], others: ConfigurationText.App.others(at: place))
      ])
    text.access = access
    let configuration = try Configuration.parse(text.text(keys), file: nil)
    let directory = try ProviderDirectory(configuration, client: HTTPClient())
    return Dictionary(
      directory.entries.map {
        ($0.provider.network, NetworkVerdict(subject: "shop", provider: $0.provider))
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func answered(_ status: Int, _ body: String) -> NetworkProbe.Outcome {
    .answered(
      status: status, contentType: Array("application/json".utf8), body: Array(body.utf8),
      isBodyCut: false)
  }

  @Test("FCM's answers to a made-up token are no fault; other refusals are")
  func fcm() throws {
    let folder = try TemporaryFolder()
    let fcm = try #require(try Self.verdicts(folder)[.fcm])
    func error(_ status: Int, _ code: String, _ details: String = "") -> NetworkProbe.Outcome {
      Self.answered(
        status, #"{"error": {"code": \#(status), "status": "\#(code)", "message": "m"\#(details)}}"#
      )
    }
    #expect(fcm.finding(error(400, "INVALID_ARGUMENT")).severity == .good)
    #expect(
      fcm.finding(Self.answered(200, #"{"name": "projects/p/messages/1"}"#)).severity == .good)
    #expect(fcm.finding(.accepted).severity == .good)
    let gone = fcm.finding(error(404, "NOT_FOUND"))
    #expect(gone.severity == .warning && gone.remedy?.contains("project") == true)
    let denied = fcm.finding(error(403, "PERMISSION_DENIED"))
    #expect(denied.severity == .error)
    #expect(denied.remedy?.contains("demo-shop") == true, "\(denied)")
    let disabled = fcm.finding(
      error(
        403, "PERMISSION_DENIED",
        #", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_DISABLED"}]"#
      ))
    #expect(disabled.remedy?.contains("enable the Firebase Cloud Messaging API") == true)
  }

  @Test("JPush that does not check requests is a note")
  func jpush() throws {
    let folder = try TemporaryFolder()
    let jpush = try #require(try Self.verdicts(folder)[.jpush])
    let refused = jpush.finding(
      Self.answered(403, #"{"error": {"code": 2007, "message": "m"}}"#))
    #expect(refused.severity == .note && refused.sentence.contains("does not check the request"))
    let secret = jpush.finding(
      Self.answered(401, #"{"error": {"code": 1004, "message": "m"}}"#))
    #expect(secret.severity == .error && secret.remedy?.contains("app_key") == true)
  }

  @Test("APNs's refusals are told apart")
  func apns() throws {
    let folder = try TemporaryFolder()
    let apns = try #require(try Self.verdicts(folder)[.apns])
    for (status, reason, severity) in [
      (400, "BadDeviceToken", DoctorFinding.Severity.good),
      (400, "DeviceTokenNotForTopic", .good), (410, "Unregistered", .good),
      (403, "InvalidProviderToken", .error), (400, "BadTopic", .error),
      (400, "BadPriority", .warning), (503, "ServiceUnavailable", .warning),
      (429, "TooManyProviderTokenUpdates", .error),
    ] {
      let finding = apns.finding(Self.answered(status, #"{"reason": "\#(reason)"}"#))
      #expect(finding.severity == severity, "\(reason): \(finding)")
      let words =
        switch reason {
        case "BadPriority": "APNs refuses the request: BadPriority"
        case "InvalidProviderToken": "APNs refuses the credential: InvalidProviderToken"
        default: reason
        }
      #expect(finding.sentence.contains(words), "\(finding)")
      #expect(finding.needsPerson == (finding.remedy != nil))
    }
  }

  @Test(
    "each stage of the way has a remedy",
    arguments: [
      (NetworkProbe.Stage.name, "name server"), (.connection, "firewalls"), (.proxy, "login"),
      (.tls, "ca_file"), (.http, "endpoint"),
    ])
  func stages(stage: NetworkProbe.Stage, words: String) throws {
    let folder = try TemporaryFolder()
    let apns = try #require(try Self.verdicts(folder)[.apns])
    let finding = apns.finding(.failed(stage, "it broke"))
    #expect(finding.severity == .error)
    #expect(
      finding.sentence == "APNs cannot be reached, for \(stage.rawValue) failed: it broke")
    #expect(finding.remedy?.contains(words) == true)
    #expect(apns.finding(.connected).severity == .good)
  }

  @Test(
    "with a proxy the way to it has the remedy, and nobody is advised to name one",
    arguments: [NetworkProbe.Stage.name, .connection, .proxy])
  func stagesBehindProxy(stage: NetworkProbe.Stage) throws {
    let folder = try TemporaryFolder()
    let verdicts = try Self.verdicts(folder, access: ["proxy: \"http://proxy.example\""])
    for network in [Network.apns, .jpush] {
      let remedy = try #require(verdicts[network]?.finding(.failed(stage, "it broke")).remedy)
      #expect(remedy.contains("the proxy") && !remedy.contains("or name a proxy"), "\(remedy)")
    }
  }

  @Test("a text is parted at the last separator into what is wrong and what to do")
  func parting() {
    let parted = DoctorFinding(.error, "redis", "a; b; do c", partedBy: "; ")
    #expect(parted.sentence == "a; b" && parted.remedy == "do c")
    let whole = DoctorFinding(.note, "redis", "a", partedBy: "; ")
    #expect(whole.sentence == "a" && whole.remedy == nil)
  }
}
