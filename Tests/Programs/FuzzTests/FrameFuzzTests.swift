import LocalServices
import Glibc
import HTTP2
import Reactor
import TestSupport
import Testing

/// Both ends of HTTP/2 take any bytes of the other: they answer or close, and every request ends once.
@Suite(.serialized) struct FrameFuzzTests {
  @Test("a client whose server sends anything ends each of its requests exactly once")
  func clients() async throws {
    try await TestLane.run { lane in
      try await FuzzRun.each("server frames") { random in
        let bytes = RandomFrames.ofServer(&random)
        let peer = try RawServer(loop: lane.loop, bytes: bytes)
        let sender = OneRequest(loop: lane.loop, endpoint: peer.endpoint)
        sender.pool.wake()
        guard await sender.untilEnded() else {
          throw Broken(description: "no end within 5 s for \(bytes)")
        }
        sender.pool.close()
        peer.close()
        guard sender.endings == 1 else {
          throw Broken(description: "\(sender.endings) endings for \(bytes)")
        }
      }
    }
  }

  @Test("a server whose client sends anything lets go of the connection")
  func servers() async throws {
    try await TestLane.run { lane in
      let server = try AnsweringServer(loop: lane.loop)
      try await FuzzRun.each("client frames") { random in
        let bytes = RandomFrames.ofClient(&random)
        let closed = server.closed
        try RawClient.send(bytes, to: server.port)
        guard await server.until({ server.closed > closed }) else {
          throw Broken(description: "the connection stays after \(bytes)")
        }
      }
      server.close()
    }
  }
}

/// Frames of HTTP/2 (RFC 9113, 4.1), mostly well-formed and mostly out of place.
enum RandomFrames {
  static func ofServer(_ random: inout SeededDice) -> [UInt8] {
    let settings = frame(4, 0, 0, [])
    // :status 200 from HPACK's static table, then the end of stream 1.
    let answer = frame(1, 4, 1, [0x88]) + frame(0, 1, 1, Array("{}".utf8))
    if random.chance(percent: 30) { return random.mutated(settings + answer) }
    return settings + (0..<random.below(8)).flatMap { _ in any(&random) }
      + (random.chance(percent: 30) ? answer : [])
  }

  static func ofClient(_ random: inout SeededDice) -> [UInt8] {
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, 0, [])
    // POST https / of the static table.
    let request =
      frame(1, 4, 1, [0x83, 0x87, 0x84, 0x41, 0x01, 0x61]) + frame(0, 1, 1, [0x7b, 0x7d])
    if random.chance(percent: 30) { return random.mutated(preface + request) }
    return preface + (random.chance(percent: 50) ? request : [])
      + (0..<random.below(8)).flatMap { _ in any(&random) }
  }

  private static func any(_ random: inout SeededDice) -> [UInt8] {
    let payload = (0..<random.pick([0, 1, 4, 5, 6, 8, 17, 40])!).map { _ in random.byte() }
    var bytes = frame(
      UInt8(random.below(12)), random.chance(percent: 50) ? UInt8(random.below(64)) : 0,
      random.pick([0, 0, 1, 1, 2, 3, 0x7fff_ffff])!, payload)
    if random.chance(percent: 10) { bytes = random.mutated(bytes) }
    return bytes
  }

  private static func frame(
    _ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]
  ) -> [UInt8] {
    let length = [
      UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255),
    ]
    let id = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
    return length + [type, flags] + id + payload
  }
}
