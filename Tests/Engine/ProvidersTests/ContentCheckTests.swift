import Model
import Testing

@testable import Providers

/// What the networks make of a job's content, and that a short plain one is rightly taken for sendable unseen.
@Suite struct ContentCheckTests {
  private static let nowMs: Int64 = 1_790_000_000_000

  private static func directory() throws -> ProviderDirectory {
    let all = Set(PushEnvironment.allCases)
    let providers: [any PushProvider] = [
      try TestProvider.apns(), try TestProvider.fcm(), try TestProvider.jpush(),
    ]
    return ProviderDirectory(
      entries: providers.enumerated().map {
        ProviderDirectory.Entry(number: $0, app: "shop", environments: all, provider: $1)
      })
  }

  private static func content(_ members: String) throws -> JobContent {
    try Job(text: #"{"app":"shop","audience":{"users":["u"]},\#(members)}"#).content
  }

  private static func check(_ content: JobContent, textBytes: Int) throws -> ContentCheck {
    try directory().check(content, textBytes: textBytes, app: "shop", nowMs: nowMs)
  }

  @Test(
    "every network takes a plain job that is as long as one may be that is not rendered",
    arguments: [
      (#""notification":{"title":""#, #""}"#), (#""notification":{"body":""#, #""}"#),
      (#""notification":{"title":"t","body":""#, #""}"#),
      (#""notification":{"body":"b","image":"https://push.example/"#, #""}"#),
      (
        #""notification":{"title":"t","body":"b","badge":1000000000,"sound":"default","category":"c","#
          + #""thread_id":"t","content_available":true,"mutable_content":true,"data":{"k":""#,
        #""}}"#
      ),
      (#""ttl_seconds":60,"notification":{"body":"b","data":{"a":"","b":"","c":"","d":""#, #""}}"#),
    ])
  func isTaken(opening: String, closing: String) throws {
    for fill in ["x", #"\n"#, "é", #"\""#] {
      let room = ProviderLimits.plainJobBytesMax - opening.utf8.count - closing.utf8.count - 46
      // An image's address is no place for the others.
      let text = opening.contains("https") ? "x" : fill
      let members =
        opening + String(repeating: text, count: room / text.utf8.count) + closing
      let content = try Self.content(members)
      #expect(content.isPlain)
      // One that is too long is rendered, and passes the limits there.
      let long = ProviderLimits.plainJobBytesMax + 1
      #expect(try Self.check(content, textBytes: long) == .sendable)
      #expect(try Self.check(content, textBytes: members.utf8.count) == .sendable)
    }
  }

  @Test func `a short job that has nothing for the networks of its app is found`() throws {
    let members = #""apns":{"payload":{"aps":{"alert":"b"}}}"#
    let directory = ProviderDirectory(entries: [
      ProviderDirectory.Entry(
        number: 0, app: "shop", environments: Set(PushEnvironment.allCases),
        provider: try TestProvider.fcm())
    ])
    let check = directory.check(
      try Self.content(members), textBytes: members.utf8.count, app: "shop",
      nowMs: Self.nowMs)
    guard case .empty(let field?) = check else {
      Issue.record("not empty: \(check)")
      return
    }
    #expect(field.pointer == "/fcm")
  }

  @Test func `a text that a network refuses is found when it is long`() throws {
    let body = #""notification":{"body":"\#(String(repeating: "x", count: 5_000))"}"#
    guard
      case .refused(let field) = try Self.check(
        try Self.content(body), textBytes: body.utf8.count)
    else {
      Issue.record("not refused")
      return
    }
    #expect(field.pointer == "/notification")
  }

  @Test func `an app without a network of the job's environments has nothing to send to`() throws {
    let content = try Self.content(#""notification":{"body":"b"}"#)
    let nobody = ProviderDirectory(entries: [])
    for textBytes in [100, 10_000] {
      let check = nobody.check(
        content, textBytes: textBytes, app: "shop", nowMs: Self.nowMs)
      #expect(check == .empty(nil))
    }
  }

  @Test("a badge that is raised counts as ten digits, to the byte")
  func longestBadge() throws {
    let around = #"{"aps":{"alert":{"title":""},"badge":2147483647}}"#.utf8.count
    func check(_ bytes: Int) throws -> ContentCheck {
      let title = String(repeating: "x", count: bytes - around)
      let directory = ProviderDirectory(entries: [
        .init(
          number: 0, app: "shop", environments: Set(PushEnvironment.allCases),
          provider: try TestProvider.apns())
      ])
      return directory.check(
        try Self.content(#""notification":{"title":"\#(title)","badge":"+1"}"#), textBytes: bytes,
        app: "shop", nowMs: Self.nowMs)
    }
    #expect(try check(4_096) == .sendable)
    guard case .refused(let field) = try check(4_097) else {
      Issue.record("a payload that a badge can make too long is admitted")
      return
    }
    #expect(field.pointer == "/notification")
    #expect(
      field.message
        == "makes an APNs payload of 4,097 bytes with a badge of ten digits, and 4,096 are allowed "
        + "for push type alert: shorten it")
  }

  @Test(
    "what one network alone knows, or is filled in, is not plain",
    arguments: [
      #""notification":{"title":"t","badge":"+1"}"#,
      #""notification":{"content_available":true}"#,
      #""notification":{"body":"b"},"apns":{"push_type":"alert"}"#,
      #""notification":{"body":"b"},"fcm":{"message":{"data":{}}}"#,
      #""notification":{"body":"b"},"jpush":{"options":{}}"#,
      #""notification":{"body":"b"},"localized":{"de":{"body":"c"}}"#,
      #""collapse_id":"c","notification":{"body":"b"}"#,
    ])
  func notPlain(members: String) throws {
    #expect(try !Self.content(members).isPlain)
  }
}
