import LocalServices
import Model
import PushpoolConfiguration
import Reactor
import Simulator
import Store
import Testing
import TestSupport

/// Why a credential does not serve, as operators read it in the alarm.
@Suite struct CredentialCauseTests {
  @Test("an API that is switched off is named in the alarm, with what to do about it")
  func namesGooglesReason() async throws {
    var rule = ScriptRule(network: .fcm, status: 403)
    rule.body = """
      {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "has not been used before",
       "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_DISABLED",
                    "domain": "googleapis.com", "metadata": {"service": "fcm.googleapis.com"}}]}}
      """
    let script = SimulatorScript.stage { $0.all = rule }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<40))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<40))
        let alarm = try await eventually("the alarm") {
          try await client.alarms().first { $0.field == "credential|shop|fcm|all" }
        }
        #expect(alarm.message.contains("SERVICE_DISABLED"))
        #expect(alarm.message.contains("enable the Firebase Cloud Messaging API"))
        #expect(try await client.record("sale")?.counts.rejected == 0)
        _ = try await client.cancel("sale")
      }
    }
  }

  @Test("a push certificate that has expired is an alarm before anything is sent")
  func namesTheCertificate() async throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueClient(commonName: "push", validDays: -1)
    try await PushStage.with(
      configure: {
        $0.apps[0].apns[.production]?.credential = .certificate(
          file: issued.combinedFile, passwordFile: nil)
      }
    ) { stage in
      try await stage.withWorkers { _ in
        let alarm = try await eventually("the alarm") { try await stage.client.alarms().first }
        #expect(alarm.field == "certificate|shop|apns|production")
        #expect(alarm.message.contains("\(issued.combinedFile) expired on"))
      }
    }
  }
}
