import Model
import Store
import Testing

@testable import Worker

@Suite struct AudienceSegmentsTests {
  @Test("users are cut into full segments in their order", arguments: [1, 255, 256, 257, 1_000])
  func cutsUsers(count: Int) {
    let users = (0..<count).map { "user \($0)" }
    let audience = Audience.users(users)
    let segments = audience.segments()
    let size = Limits.chunkRecipientsMax
    #expect(audience.chunkLines == .users)
    #expect(segments.count == (count + size - 1) / size)
    let lines = segments.map { segment in
      segment.withUnsafeBytes { bytes in
        SegmentLines(bytes).map { String(decoding: $0, as: UTF8.self) }
      }
    }
    #expect(lines.flatMap { $0 } == users)
    #expect(lines.dropLast().allSatisfy { $0.count == size })
  }

  @Test("installations are lines that are resolved when they are sent")
  func cutsInstallations() throws {
    let token = try DeviceToken("00AAbbcc", network: .apns)
    let audience = Audience.installations([token])
    #expect(audience.chunkLines == .installations)
    let segments = audience.segments()
    #expect(segments.map { String(decoding: $0, as: UTF8.self) } == ["apns\t\t00aabbcc\t\t\t0\n"])
  }
}
