import Model
import PushpoolConfiguration
import Testing

@testable import Worker

@Suite struct JobMaterialTests {
  private func material(_ expiry: Expiry?) -> JobMaterial {
    JobMaterial(content: JobContent(expiry: expiry), createdAtMs: 1_000_000)
  }

  @Test("a time to live counts from the job's creation, an instant is itself")
  func expires() {
    #expect(material(.ttl(seconds: 60)).expiresAtMs == 1_060_000)
    #expect(material(.at(ms: 5)).expiresAtMs == 5)
    #expect(material(nil).expiresAtMs == nil)
    #expect(material(nil).allowsRetry)
    #expect(material(.ttl(seconds: 60)).allowsRetry)
  }

  @Test("now or never: the first attempt is made however late, and no second one")
  func nowOrNever() {
    #expect(material(.ttl(seconds: 0)).expiresAtMs == nil)
    #expect(!material(.ttl(seconds: 0)).allowsRetry)
  }

  @Test(
    "a job that says how long it lives keeps as many earlier renderings as requests may point into")
  func retires() throws {
    var network = try TestBatchNetwork()
    network.tellsRemainingTime = true
    let material = JobMaterial(
      content: JobContent(notification: Notification(title: "Hi"), expiry: .ttl(seconds: 864_000)),
      createdAtMs: 0)
    let stepMs = WorkerLimits.renderingAgeMsMax + 1
    var made: [WeakMessage] = []
    for number in 0..<1_000 {
      let rendering = material.rendering(
        for: 0, at: 0, variant: 0, provider: network, nowMs: Int64(number) * stepMs)
      guard case .message(let message) = rendering else {
        Issue.record("\(rendering)")
        return
      }
      made.append(WeakMessage(message: message))
      // What a request may still point into was rendered before the last one that it can have been made of was retired.
      let oldestMs =
        Int64(number) * stepMs - Int64(ConfigurationLimits.requestTimeoutSecondsMax) * 1_000
      for (earlier, message) in made.enumerated() where Int64(earlier + 1) * stepMs >= oldestMs {
        #expect(message.message != nil, "\(earlier) of \(number)")
      }
      #expect(
        made.count { $0.message != nil } <= WorkerLimits.retiredMessagesMax + 1, "\(number)")
    }
  }

  @Test("a job is rendered once for each destination and text, whatever the order they come in")
  func keepsRenderings() throws {
    var content = JobContent(notification: Notification(title: "Hi"))
    content.localized = [LocalizedText(language: try #require(LanguageTag("de")), title: "Hallo")]
    let material = JobMaterial(content: content, createdAtMs: 0)
    #expect(material.variants.contents.count == 2)
    func message(_ destination: Int, _ variant: UInt8) throws -> JobMessage {
      let rendering = material.rendering(
        for: destination, at: destination - 30_000, variant: variant,
        provider: try TestBatchNetwork(), nowMs: 0)
      guard case .message(let message) = rendering else {
        Issue.record("\(rendering)")
        throw CancellationError()
      }
      return message
    }
    let places: [(Int, UInt8)] = [
      (30_002, 1), (30_004, 0), (30_000, 1), (30_002, 0), (30_000, 0),
    ]
    let first = try places.map { try message($0.0, $0.1) }
    let again = try places.map { try message($0.0, $0.1) }
    #expect(Set(first.map { ObjectIdentifier($0) }).count == places.count)
    #expect(first.map { ObjectIdentifier($0) } == again.map { ObjectIdentifier($0) })
  }

  @Test(
    "a destination that takes another's place has a rendering of its own, and requests in flight keep the old one"
  )
  func replacesRenderings() throws {
    let material = JobMaterial(
      content: JobContent(notification: Notification(title: "Hi")), createdAtMs: 0)
    func message(_ destination: Int) throws -> ObjectIdentifier {
      let rendering = material.rendering(
        for: destination, at: 3, variant: 0, provider: try TestBatchNetwork(), nowMs: 0)
      guard case .message(let message) = rendering else {
        Issue.record("\(rendering)")
        throw CancellationError()
      }
      return ObjectIdentifier(message)
    }
    // An object that went would leave its place to another, with the same identity.
    let made = try [7, 9, 8].map { try message($0) }
    #expect(Set(made).count == 3)
    #expect(try [8, 7, 9].map { try message($0) } == [made[2], made[0], made[1]])
  }

  @Test("what cannot be marked up is refused, and does not go out with its placeholders")
  func refusesUnmarked() throws {
    var content = JobContent(notification: Notification(title: "Hi {{na"))
    content.variables = .key("names")
    let material = JobMaterial(content: content, createdAtMs: 0)
    let rendering = material.rendering(
      for: 0, at: 0, variant: 0, provider: try TestBatchNetwork(), nowMs: 0)
    guard case .refused(let field) = rendering else {
      Issue.record("\(rendering)")
      return
    }
    #expect(field.pointer == "/notification/title")
  }
}

private struct WeakMessage {
  weak var message: JobMessage?
}
