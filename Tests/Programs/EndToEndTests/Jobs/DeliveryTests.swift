import LocalServices
import Model
import Redis
import Simulator
import Testing

@Suite struct DeliveryTests {
  @Test("a job reaches every device of its users on both networks, and its record adds up")
  func deliversToAllDevices() async throws {
    try await PushStage.with { stage in
      try await stage.client.install([
        try Devices.apns(1, user: "u1"), try Devices.fcm(1, user: "u1"),
        try Devices.apns(2, user: "u2"),
      ])
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(
          """
          {"id": "j1", "app": "shop", "audience": {"users": ["u1", "u2", "nobody"]},
           "notification": {"title": "Hello", "body": "World"}}
          """)
        let record = try await stage.client.finished("j1")
        #expect(record.counts.accepted == 3)
        #expect(record.counts.noInstallations == 1)
        #expect(record.total == 3)
        #expect(record.isBalanced)
      }
      #expect(stage.simulator.acceptedPushes.count == 3)
      #expect(stage.simulator.counters.violations == 0)
    }
  }

  @Test("an installation of a network that the job says nothing for is skipped, on every network")
  func skipsOtherNetworks() async throws {
    try await PushStage.with(endpoints: .init(hasJPush: true)) { stage in
      let client = stage.client
      try await client.install([
        try Devices.apns(1, user: "u1"), try Devices.fcm(1, user: "u1"),
        try Devices.jpush(1, user: "u1"),
      ])
      try await stage.withWorkers { _ in
        for (id, part) in [
          ("apns", #""apns": {"payload": {"aps": {"alert": "Hello"}}}"#),
          ("fcm", #""fcm": {"message": {"data": {"a": "b"}}}"#),
          ("jpush", #""jpush": {"message": {"msg_content": "a"}}"#),
        ] {
          _ = try await client.enqueue(
            #"{"id": "\#(id)", "app": "shop", "audience": {"users": ["u1"]}, \#(part)}"#)
          let record = try await client.finished(id)
          #expect(record.counts.accepted == 1)
          #expect(record.counts.skipped == 2)
          #expect(record.counts.rejected == 0)
        }
        // Android shows a badge beside a text only, so nothing is left for FCM.
        _ = try await client.enqueue(
          #"{"id": "badge", "app": "shop", "audience": {"users": ["u1"]}, "notification": {"badge": 3}}"#
        )
        let record = try await client.finished("badge")
        #expect(record.counts.accepted == 2 && record.counts.skipped == 1)
      }
    }
  }

  @Test("a push goes to tokens of its kind alone, by user and by token")
  func keepsKindsApart() async throws {
    try await PushStage.with { stage in
      var voip = try Devices.apns(1, user: "u1")
      voip.kind = .voip
      let installations = [voip, try Devices.apns(2, user: "u1"), try Devices.fcm(3, user: "u1")]
      try await stage.client.install(installations)
      let tokens = installations.map {
        #"{"network":"\#($0.token.network.rawValue)","token":"\#($0.token.text)"}"#
      }.joined(separator: ",")
      try await stage.withWorkers { _ in
        for (id, type, audience, total) in [
          ("call", "voip", #"{"users":["u1"]}"#, 2), ("news", "alert", #"{"users":["u1"]}"#, 2),
          ("calls", "voip", #"{"installations":[\#(tokens)]}"#, 3),
        ] {
          let before = stage.simulator.acceptedPushes.count
          _ = try await stage.client.enqueue(
            #"{"id":"\#(id)","app":"shop","audience":\#(audience),"notification":{"body":"B"},"apns":{"push_type":"\#(type)"}}"#
          )
          let record = try await stage.client.finished(id)
          #expect(record.counts.accepted == 2 && record.total == total, "\(id): \(record)")
          let reached = stage.simulator.acceptedPushes.dropFirst(before).filter {
            $0.network == .apns
          }
          let own = type == "voip" ? 0 : 1
          #expect(reached.map(\.token) == [installations[own].token.text], "\(id)")
          guard id != "calls" else { continue }
          let traced = try await stage.pushpool(
            "trace", "--job", id, "--app", "shop", "--token", installations[1 - own].token.text)
          #expect(traced.output.contains("not meant: it is a token of kind"), "\(traced.output)")
        }
      }
    }
  }

  @Test(
    "the bindings of a job are read once, whether as it comes in or as its chunk is carried")
  func readsBindingsOnce() async throws {
    try await PushStage.with { stage in
      try await stage.client.install(try Devices.apns(0..<30))
      try await stage.withWorkers { _ in
        for (size, users) in [("small", 0..<8), ("larger", 8..<17)] {
          // Bindings that have grown old are read again: not at every try on a machine that is busy.
          var readOnce = false
          for number in 0..<20 where !readOnce {
            let id = "\(size)-\(number)"
            _ = try await stage.client.command("CONFIG", "RESETSTAT")
            _ = try await stage.client.enqueue(Devices.job(id, users))
            #expect(try await stage.client.finished(id).counts.accepted == users.count)
            let statistics = try await stage.client.command("INFO", "commandstats").string
            readOnce = try #require(statistics).contains("cmdstat_mget:calls=1,")
          }
          #expect(readOnce, "\(size)")
        }
      }
    }
  }
}
