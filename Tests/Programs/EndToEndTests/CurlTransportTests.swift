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
