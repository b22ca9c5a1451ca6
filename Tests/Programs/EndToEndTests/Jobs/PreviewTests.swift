import Foundation
import LocalServices
import Model
import Redis
import Testing

@testable import Simulator

/// What `pushpool enqueue --dry-run` prints, beside what a worker sends.
@Suite struct PreviewTests {
  private static func pushpool(_ stage: PushStage, _ arguments: String...) async throws
    -> JSONObject
  {
    let child = try ChildProcess(
      PushStage.programFolder + "/pushpool",
      arguments + ["--config", stage.writeConfiguration(), "--json"],
      folder: "/", output: .pipe, error: .pipe)
    let (exit, output, error) = await stage.end(of: child)
    #expect(exit == .code(0), "\(error)")
    let value = try JSONParser().parse(output)
    return try #require(value.objectValue)
  }

  /// The bytes of a printed body, with the whole token in its place.
  private static func body(_ device: JSONObject, _ installation: Installation) throws -> [UInt8] {
    let body = try #require(device["request"]?.objectValue?["body"])
    let text = body.text().replacing(installation.token.shortened, with: installation.token.text)
    return Array(text.utf8)
  }

  @Test(
    "what is printed for a user's devices is what they are sent, and printing it sends nothing",
    arguments: [
      #""fcm": {"message": {"data": {"k": "1"}}}, "collapse_id": "c""#,
      #""fcm": {"message": {"data": {"k": "{{name}}"}}}, "variables_key": "names", "#
        + #""localized": {"de": {"title": "Hallo {{name}}"}}"#,
    ])
  func isWhatIsSent(more: String) async throws {
    try await PushStage.with(endpoints: PushStage.Endpoints(hasJPush: true)) { stage in
      var installations = [
        try Devices.apns(1, user: "u1"), try Devices.fcm(2, user: "u1"),
        try Devices.jpush(3, user: "u1"), try Devices.fid(4, user: "u1"),
      ]
      installations[0].device.language = "de"
      try await stage.client.install(installations)
      _ = try await stage.client.command("HSET", "names", "u1", #"{"name": "\"Änne\" / 1"}"#)
      let job = Devices.job("sale", 1..<2, ", " + more)
      let file = stage.folder.file("job.json")
      try job.write(toFile: file, atomically: true, encoding: .utf8)
      let printed = try await Self.pushpool(stage, "enqueue", file, "--dry-run", "--user", "u1")
      let devices = printed["devices"]?.arrayValue?.compactMap(\.objectValue) ?? []
      #expect(devices.count == 4)

      #expect(stage.simulator.counters.connectionsOpened == 0)
      #expect(try await stage.client.length("jobs:normal") == 0)
      #expect(try await stage.client.command("KEYS", "*credential*").array?.isEmpty == true)

      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(job)
        stage.expectDelivered(try await stage.client.finished("sale"), 4)
      }
      for (device, installation) in zip(devices, installations) {
        let network = installation.token.network
        #expect(device["network"]?.stringValue == network.rawValue)
        // Its request's id follows from the job's entry, which there was none of.
        guard network != .jpush else { continue }
        let accepted = try #require(
          stage.simulator.acceptedPushes.first { $0.token == installation.token.text })
        let body = try Self.body(device, installation)
        #expect(
          body.withUnsafeBytes { BodyHash.of($0) } == accepted.bodyHash,
          "\(network): \(String(decoding: body, as: UTF8.self))")
      }
    }
  }
}
