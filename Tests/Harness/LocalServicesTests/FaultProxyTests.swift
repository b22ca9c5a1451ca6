import LocalServices
import Reactor
import Synchronization
import Testing

@Suite("fault proxy")
struct FaultProxyTests {
  /// Far more than one read.
  private static let payload = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

  @Test("passes everything on, in order, while there is no fault")
  func passes() async throws {
    try await EchoStage.with { stage in
      let client = try stage.connect()
      client.send(Self.payload)
      #expect(try await client.received(Self.payload.count) == Self.payload)
    }
  }

  @Test(
    "changes when things arrive and not what arrives",
    arguments: [
      FaultProxy.Fault.delay(ms: 1...15), .fragments, .bandwidth(bytesPerSecond: 400_000),
    ])
  func keepsContent(fault: FaultProxy.Fault) async throws {
    try await EchoStage.with { stage in
      await stage.proxy.set(fault)
      let client = try stage.connect()
      let some = Array(Self.payload[..<20_000])
      client.send(some)
      #expect(try await client.received(some.count) == some)
      #expect(client.end == nil)
    }
  }

  @Test("hands fragments on one byte at a time")
  func fragments() async throws {
    try await EchoStage.with { stage in
      await stage.proxy.set(.fragments)
      let client = try stage.connect()
      client.send(Array(Self.payload[..<2_000]))
      _ = try await client.received(2_000)
      // The kernel joins what a client that is slow to read leaves lying, but what comes in one piece otherwise
      // comes in several.
      #expect(client.reads > 5)
    }
  }

  @Test("keeps what comes in a stall and hands it on afterwards")
  func stalls() async throws {
    try await EchoStage.with { stage in
      let client = try stage.connect()
      client.send([1])
      #expect(try await client.received(1) == [1])
      await stage.proxy.set(.stall)
      client.send([2, 3])
      try await stage.proxyHas(read: 3)
      #expect(client.bytes == [1])
      await stage.proxy.set(.none)
      #expect(try await client.received(3) == [1, 2, 3])
    }
  }

  @Test(
    "loses what comes in a blackhole and resets the connection when it ends",
    arguments: [FaultProxy.Fault.blackhole, .halfOpen])
  func swallows(fault: FaultProxy.Fault) async throws {
    try await EchoStage.with { stage in
      let client = try stage.connect()
      client.send([1])
      #expect(try await client.received(1) == [1])
      await stage.proxy.set(fault)
      client.send([2])
      let late = try stage.connect()
      late.send([3])
      try await stage.proxyHas(read: 3)
      #expect(client.end == nil)
      #expect(late.end == nil)
      await stage.proxy.set(.none)
      try await client.ended()
      try await late.ended()
      #expect(client.bytes == [1])
      #expect(late.bytes == [])
    }
  }

  @Test("passes a part of a reply and resets the connection")
  func resets() async throws {
    try await EchoStage.with { stage in
      await stage.proxy.set(.resetMidReply(afterReads: 2...2))
      let client = try stage.connect()
      client.send([1])
      #expect(try await client.received(1) == [1])
      client.send(Array(Self.payload[..<1_000]))
      try await client.ended()
      #expect(client.bytes.count < 1_001)
      #expect(await stage.proxy.breaks == 1)
    }
  }

  @Test(
    "leaves no hole in what passes before a reset",
    arguments: [
      FaultProxy.Fault.resetMidReply(afterReads: 2...2), .resetMidRequest(afterReads: 2...2),
    ])
  func leavesNoHole(fault: FaultProxy.Fault) async throws {
    try await EchoStage.with { stage in
      await stage.proxy.set(fault)
      let client = try stage.connect()
      client.send(Self.payload)
      try await client.ended()
      #expect(Self.payload.starts(with: client.bytes))
      #expect(Self.payload.starts(with: stage.server.bytes))
    }
  }

  @Test("drops a reply after the server has had the request")
  func dropsReply() async throws {
    try await EchoStage.with { stage in
      await stage.proxy.set(.dropReply(afterReads: 1...1))
      let client = try stage.connect()
      client.send([7, 8, 9])
      try await client.ended()
      #expect(client.bytes == [])
      #expect(stage.server.bytes == [7, 8, 9])
    }
  }

  @Test("refuses new connections, and cuts those there are")
  func cuts() async throws {
    try await EchoStage.with { stage in
      let client = try stage.connect()
      client.send([1])
      #expect(try await client.received(1) == [1])
      await stage.proxy.set(.refuse)
      try await stage.connect().ended()
      #expect(client.end == nil)
      await stage.proxy.cut()
      try await client.ended()
    }
  }
}
