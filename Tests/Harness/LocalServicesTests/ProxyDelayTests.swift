import LocalServices
import Testing

@Suite("fault proxy: a server far away")
struct ProxyDelayTests {
  @Test("pieces arrive in their order, and none before its distance")
  func keepsOrder() async throws {
    try await EchoStage.with { stage in
      await stage.proxy.set(.delay(ms: 100...100))
      let client = try stage.connect()
      let start = ContinuousClock.now
      for count in 1...50 {
        client.send([UInt8(count)])
        try await stage.proxyHas(read: count)
      }
      #expect(try await client.received(50) == (1...50).map { UInt8($0) })
      #expect(ContinuousClock.now - start >= .milliseconds(200))
    }
  }

  @Test("what is on its way takes no room from what follows, nor does that wait for it")
  func window() async throws {
    try await EchoStage.with { stage in
      await stage.proxy.set(.delay(ms: 60_000...60_000))
      let client = try stage.connect()
      client.send([UInt8](repeating: 7, count: 2 << 20))
      try await stage.proxyHas(read: 2 << 20)
      client.send([8])
      try await stage.proxyHas(read: (2 << 20) + 1)
      #expect(stage.server.bytes == [])
    }
  }

  @Test("the proxy sleeps when there is nothing to pass on")
  func sleeps() async throws {
    try await EchoStage.with { stage in
      let client = try stage.connect()
      client.send([1])
      #expect(try await client.received(1) == [1])
      let before = await stage.proxy.turns
      try await ContinuousClock().sleep(for: .milliseconds(100))
      #expect(await stage.proxy.turns - before < 50)
    }
  }
}
