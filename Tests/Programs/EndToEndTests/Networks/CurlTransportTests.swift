import Configuration
import Glibc
import LocalServices
import Model
import Reactor
import Simulator
import Testing

@Suite("Workers over libcurl") struct CurlTransportTests {
  @Test("deliver a job to every device on both networks exactly once")
  func delivers() async throws {
    try await PushStage.with(script: .stage(), access: "transport: curl") { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<400))
      try await client.install(try Devices.fcm(400..<600))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("curl", 0..<600))
        stage.expectDelivered(try await client.finished("curl"), 600)
      }
    }
  }

  @Test("reject one push that the network calls malformed, and send the others of its job")
  func malformed() async throws {
    var rule = ScriptRule(tokenPrefix: "bad0", action: .reset)
    rule.resetCode = 1
    let script = SimulatorScript.stage { $0.rules = [rule] }
    try await PushStage.with(script: script, access: "transport: curl") { stage in
      let client = stage.client
      try await client.install(
        try Devices.apns(0..<20, prefix: "bad0") + Devices.apns(20..<200))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("poisoned", 0..<20))
        _ = try await client.enqueue(Devices.job("good", 20..<200))
        #expect(try await client.finished("good").counts.accepted == 180)
        let record = try await client.finishedInHaste("poisoned")
        #expect(record.counts.rejected == 20)
        #expect(record.isBalanced)
        #expect(try await client.alarms().isEmpty)
      }
    }
  }

  @Test("try streams that the network refuses again after a pause, and not one by one at once")
  func refused() async throws {
    var refusal = ScriptRule(action: .reset, times: 10)
    refusal.resetCode = 7
    let script = SimulatorScript.stage { $0.all = refusal }
    try await PushStage.with(script: script, access: "transport: curl") { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<30))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<30))
        let record = try await client.finishedInHaste("sale")
        #expect(record.counts.accepted == 30)
        #expect(record.isBalanced)
        let counters = stage.simulator.counters
        #expect(counters.resets == 10)
        #expect(counters.requests == 40)
      }
    }
  }

  @Test("deliver through a proxy, and lose nothing while it is down", arguments: [true, false])
  func proxied(isHTTP: Bool) async throws {
    let way: TunnelProxy.Way = isHTTP ? .http : .socks5
    let loop = try EventLoop(name: "proxy")
    try loop.start()
    defer { loop.stop() }
    let lane = ProxyLane(loop: loop)
    let url = try await lane.open(way)
    try await PushStage.with(script: .stage(), access: "proxy: \"\(url)\"") { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<300))
      try await client.install(try Devices.fcm(300..<320))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("first", 0..<100))
        #expect(try await client.finished("first").counts.accepted == 100)
        await lane.set(isDown: true)
        _ = try await client.enqueue(Devices.job("second", 100..<320))
        _ = try await eventually("work is claimed while the proxy is down") {
          try await client.claimedChunks() > 0 ? true : nil
        }
        #expect(stage.simulator.counters.accepted == 100)
        await lane.set(isDown: false)
        let record = try await client.finishedInHaste("second")
        #expect(record.counts.accepted == 220)
        #expect(record.isBalanced)
      }
      #expect(stage.duplicates == 0)
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 320)
    }
    let targets = await lane.targets
    #expect(!targets.isEmpty)
    #expect(targets.allSatisfy { $0.hasPrefix("localhost:") })
    await lane.close()
  }
}

/// A proxy on a loop of its own.
private actor ProxyLane {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var proxy: TunnelProxy?
  var targets: [String] { proxy?.targets ?? [] }

  init(loop: EventLoop) { self.loop = loop }

  func open(_ way: TunnelProxy.Way) throws -> String {
    let proxy = try TunnelProxy(loop: loop, way: way)
    self.proxy = proxy
    return proxy.url
  }

  func set(isDown: Bool) { proxy?.isDown = isDown }

  func close() {
    proxy?.close()
    proxy = nil
  }
}
