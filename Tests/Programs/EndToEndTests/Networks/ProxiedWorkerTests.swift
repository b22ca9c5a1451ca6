import LocalServices
import Model
import Simulator
import Store
import Testing

@Suite("Workers behind an egress proxy") struct ProxiedWorkerTests {
  @Test(
    "deliver to every device on all three networks, and lose nothing while the proxy is down",
    arguments: [true, false])
  func delivers(isHTTP: Bool) async throws {
    let proxy = try EgressProxy(isHTTP ? .http : .socks5)
    try await PushStage.with(
      script: .stage(), endpoints: PushStage.Endpoints(hasJPush: true),
      access: ["proxy: \"\(proxy.url)\""]
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<300))
      try await client.install(try Devices.fcm(300..<320))
      try await client.install(try Devices.jpush(320..<340))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("first", 0..<100))
        #expect(try await client.finished("first").counts.accepted == 100)
        await proxy.set(isDown: true)
        _ = try await client.enqueue(Devices.job("second", 100..<340))
        _ = try await eventually("work is claimed while the proxy is down") {
          try await client.claimedChunks() > 0 ? true : nil
        }
        #expect(stage.simulator.counters.accepted == 100)
        await proxy.set(isDown: false)
        let record = try await client.finishedInHaste("second")
        #expect(record.counts.accepted == 240)
        #expect(record.isBalanced)
      }
      #expect(stage.duplicates == 0)
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 340)
    }
    let targets = await proxy.targets
    #expect(!targets.isEmpty)
    #expect(targets.allSatisfy { $0.hasPrefix("localhost:") })
    await proxy.close()
  }

  @Test(
    "show it the login that the configuration names, for all three networks",
    arguments: [true, false])
  func login(isHTTP: Bool) async throws {
    let proxy = try EgressProxy(isHTTP ? .http : .socks5, login: "push:s3cret")
    let folder = try TemporaryFolder()
    defer { folder.close() }
    let passwordFile = folder.file("proxy-password")
    try PrivateFile.write("s3cret\n", to: passwordFile)
    try await PushStage.with(
      script: .stage(), endpoints: PushStage.Endpoints(hasJPush: true),
      access: [
        "proxy: \"\(proxy.url)\"", "proxy_user: push", "proxy_password_file: \"\(passwordFile)\"",
      ]
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<20))
      try await client.install(try Devices.fcm(20..<40))
      try await client.install(try Devices.jpush(40..<60))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<60))
        #expect(try await client.finished("sale").counts.accepted == 60)
      }
      #expect(stage.duplicates == 0)
    }
    #expect(await proxy.refusals == 0)
    // At least the networks' own, and the server that gives FCM's tokens.
    #expect(await proxy.targets.count >= 4)
    await proxy.close()
  }

  @Test("wait while the proxy refuses them, and the alarm says what it wants")
  func refused() async throws {
    let proxy = try EgressProxy(.http, login: "push:s3cret")
    try await PushStage.with(
      script: .stage(), mostlyWaits: true, access: ["proxy: \"\(proxy.url)\""]
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<20))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<20))
        let alarm = try await eventually("an alarm names the proxy") {
          try await client.alarms().first { $0.message.contains("the proxy 127.0.0.1:") }
        }
        #expect(alarm.message.contains("wants a login: give proxy_user and proxy_password_file"))
        let record = try #require(try await client.record("sale"))
        #expect(record.counts.accepted == 0 && record.counts.retries == 0)
      }
    }
    #expect(await proxy.refusals > 0)
    await proxy.close()
  }
}
