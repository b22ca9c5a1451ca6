import LocalServices
import Model
import Operations
import Providers
import PushpoolConfiguration
import Testing

/// What a job would send, without Redis and without any network.
@Suite struct JobPreviewTests {
  private static let token = String(repeating: "00ff", count: 16)

  private let folder: TemporaryFolder
  private let configuration: Configuration

  /// An app on all networks; on APNs in production only.
  init() throws {
    folder = try TemporaryFolder()
    let keys = try NetworkKeys(folder: folder.path, port: 443)
    let endpoint = "https://push.example:8443"
    let text = ConfigurationText(
      redisURL: "redis://127.0.0.1:6379",
      apps: [
        ConfigurationText.App(
          apns: [.production: endpoint], others: ConfigurationText.App.others(at: endpoint))
      ])
    configuration = try Configuration.parse(
      text.text(keys), file: "pushpool.yaml", environment: [:])
  }

  private static func device(
    _ token: String = token, _ network: Network = .apns,
    _ environment: PushEnvironment = .production, kind: TokenKind = .alert,
    language: String? = nil
  ) throws -> PreviewTarget {
    var installation = Installation(
      app: "shop", user: "u1", token: try DeviceToken(token, network: network),
      environment: environment, device: Installation.Device(language: language))
    installation.kind = kind
    return .installation(installation)
  }

  private func preview(
    _ members: String, _ targets: [PreviewTarget],
    audience: String = #"{"users": ["u1"]}"#, filledWith values: ReceiverValues = .values([:])
  ) throws -> JobPreview {
    let job = try Job(text: #"{"app": "shop", "audience": \#(audience), \#(members)}"#)
    return JobPreview(
      of: job, to: targets, filledWith: values, with: try PreviewedApp("shop", of: configuration),
      nowMs: 1_790_000_000_000)
  }

  private struct NoRequest: Error {}

  @Test("a badge that is raised is the installation's next one")
  func nextBadge() throws {
    var installation = Installation(
      app: "shop", user: "u1", token: try DeviceToken(Self.token, network: .apns))
    installation.badge = 6
    let job = #""notification":{"title":"T","badge":"+1"}"#
    let own = try Self.request(preview(job, [.installation(installation)]))
    #expect(String(decoding: own.body, as: UTF8.self).contains(#""badge":7"#))
    let any = try Self.request(preview(job, [.anyDevice(.apns, .production)]))
    #expect(String(decoding: any.body, as: UTF8.self).contains(#""badge":1"#))
  }

  private static func cause(_ preview: JobPreview) -> PreviewedPush.Cause? {
    guard case .nothing(let cause)? = preview.pushes.first?.result else { return nil }
    return cause
  }

  private static func request(_ preview: JobPreview) throws -> PreviewedRequest {
    guard case .request(let request)? = preview.pushes.first?.result else {
      throw NoRequest()
    }
    return request
  }

  @Test func `the request to APNs is the provider's, with a part of the token in its place`() throws
  {
    let preview = try preview(
      #""notification": {"title": "Sale"}, "collapse_id": "c""#, [Self.device()])
    #expect(preview.refusal == nil && preview.unserved == 0)
    let request = try Self.request(preview)
    #expect(request.method == "POST")
    #expect(request.url == "https://push.example:8443/3/device/00ff00ff…")
    #expect(
      request.headers.map { "\($0.name): \($0.value)" } == [
        "apns-topic: com.example.shop", "apns-push-type: alert", "apns-priority: 10",
        "apns-collapse-id: c",
      ])
    #expect(request.hasCredentialHeader)
    let body = #"{"aps":{"alert":{"title":"Sale"}}}"#
    #expect(String(decoding: request.body, as: UTF8.self) == body)
    #expect(request.sizes.map(\.bytes) == [body.utf8.count])
    #expect(request.sizes.map(\.bytesMax) == [4_096])
    #expect(request.devicesMax == 1)
  }

  @Test func `the requests to FCM and JPush name the device in the body`() throws {
    let content = #""notification": {"body": "Now"}"#
    let fcm = try Self.request(preview(content, [Self.device("cX1:token-of-fcm", .fcm)]))
    #expect(fcm.url.hasSuffix("/messages:send"))
    #expect(String(decoding: fcm.body, as: UTF8.self).contains(#""token":"cX1:toke…""#))
    #expect(
      fcm.sizes.map(\.bytes) == [39 + 6 + "gcm.notification.body".utf8.count + "Now".utf8.count])
    let jpush = try Self.request(preview(content, [Self.device("140fe1da9ea", .jpush)]))
    #expect(jpush.url == "https://push.example:8443/v3/push")
    let text = String(decoding: jpush.body, as: UTF8.self)
    #expect(text.contains(#"-(id)","audience":{"registration_id":["140fe…"]}"#))
    #expect(jpush.devicesMax == 1_000)
    #expect(jpush.sizes.map(\.bytesMax) == [2_000, 4_000])
  }

  @Test func `any device of a network is rendered for without one`() throws {
    let preview = try preview(
      #""notification": {"title": "Sale"}"#, [.anyDevice(.apns, .production)])
    #expect(try Self.request(preview).url.hasSuffix("/3/device/(device token)"))
    #expect(preview.pushes[0].isInAudience == nil)
  }

  @Test(
    arguments: [
      (
        #""notification": {"title": "t"}, "environments": ["development"]"#,
        PreviewedPush.Cause.environmentExcluded
      ),
      (#""fcm": {"message": {"data": {"k": "v"}}}"#, .notForNetwork),
      (#""notification": {"title": "t"}, "dry_run": true"#, .noDryRun),
      (#""notification": {"title": "t"}, "expires_at": 1789999999999"#, .expired),
    ])
  func `a device that gets nothing is told why`(
    members: String, cause: PreviewedPush.Cause
  ) throws {
    let preview = try preview(members, [Self.device()])
    #expect(Self.cause(preview) == cause)
    #expect(preview.unserved == 1)
    #expect(preview.refusal == nil)
  }

  @Test func `a device without credentials in this configuration is told so`() throws {
    let preview = try preview(
      #""notification": {"title": "t"}"#, [Self.device(Self.token, .apns, .development)])
    #expect(Self.cause(preview) == .noCredentials)
  }

  @Test func `what one network refuses is refused as a whole, and shown for the others`() throws {
    let text = String(repeating: "x", count: 2_500)
    let preview = try preview(
      #""notification": {"title": "t"}, "jpush": {"notification": {"ios": {"alert": "\#(text)"}}}"#,
      [Self.device("140fe1da9ea", .jpush), Self.device()])
    #expect(preview.refusal?.pointer == "/jpush")
    guard case .refused(let field)? = Self.cause(preview) else {
      Issue.record("nothing was refused")
      return
    }
    #expect(field == preview.refusal)
    #expect(preview.unserved == 1)
  }

  @Test func `a time to live counts from now, and nothing of it has passed`() throws {
    let preview = try preview(
      #""notification": {"title": "t"}, "ttl_seconds": 60"#, [Self.device()])
    #expect(
      try Self.request(preview).headers.contains {
        $0.name == "apns-expiration" && $0.value == "1790000060"
      })
  }

  @Test func `a device that the audience lacks is known, as far as the job tells`() throws {
    let content = #""notification": {"title": "t"}"#
    func isIn(_ audience: String) throws -> Bool? {
      try preview(content, [Self.device()], audience: audience).pushes[0].isInAudience
    }
    #expect(try isIn(#"{"users": ["u0", "u1"]}"#) == true)
    #expect(try isIn(#"{"users": ["u0"]}"#) == false)
    #expect(try isIn(#"{"users_key": "segment"}"#) == nil)
    #expect(
      try isIn(#"{"installations": [{"network": "apns", "token": "\#(Self.token)"}]}"#) == true)
    #expect(
      try isIn(#"{"installations": [{"network": "fcm", "token": "\#(Self.token)"}]}"#) == false)
  }

  private static let personal =
    #""notification": {"title": "Hi {{name}}", "body": "{{points | default: \"0\"}}"}, "#
    + #""localized": {"de": {"title": "Hallo {{name}}"}}, "variables_key": "names""#

  @Test func `a text is that of the device's language, filled in with the user's values`() throws {
    let preview = try preview(
      Self.personal, [Self.device(language: "de-AT"), Self.device("140fe1da9ea", .jpush)],
      filledWith: .values(["name": #""A""#]))
    #expect(
      String(decoding: try Self.request(preview).body, as: UTF8.self)
        == #"{"aps":{"alert":{"title":"Hallo \"A\"","body":"0"}}}"#)
    guard case .request(let jpush) = preview.pushes[1].result else { throw NoRequest() }
    #expect(String(decoding: jpush.body, as: UTF8.self).contains(#"Hi \"A\""#))
    #expect(jpush.devicesMax == 1)
  }

  @Test func `of any device the placeholders without a default are shown`() throws {
    let preview = try preview(Self.personal, [.anyDevice(.apns, .production)])
    #expect(
      String(decoding: try Self.request(preview).body, as: UTF8.self)
        == #"{"aps":{"alert":{"title":"Hi {{name}}","body":"0"}}}"#)
  }

  @Test func `values that are missing, cannot be read or are too long are causes of their own`()
    throws
  {
    func cause(_ values: ReceiverValues) throws -> PreviewedPush.Cause? {
      Self.cause(try preview(Self.personal, [Self.device()], filledWith: values))
    }
    #expect(try cause(.values(["points": "1"])) == .missingVariable("name"))
    #expect(try cause(.unreadable) == .unreadableVariables)
    #expect(try cause(.noHash) == .noVariablesHash)
    let long = String(repeating: "x", count: 4_096)
    guard case .payloadTooLarge(let size)? = try cause(.values(["name": long])) else {
      Issue.record("it was not too large")
      return
    }
    #expect(size.bytes > 4_096 && size.bytesMax == 4_096)
  }

  @Test func `a device that the job's filter leaves out gets nothing`() throws {
    let job =
      #""notification": {"title": "t"}, "filter": {"network": ["apns"], "language": ["ja"]}"#
    let preview = try preview(
      job,
      [
        Self.device(language: "en"), Self.device(language: "ja-JP"), Self.device(),
        .anyDevice(.apns, .production), .anyDevice(.fcm, .production),
      ])
    #expect(Self.cause(preview) == .filtered)
    let isSent = preview.pushes.map { push in
      if case .request = push.result { true } else { false }
    }
    #expect(isSent == [false, true, false, true, false])
  }

  @Test func `a token of another kind than the job's gets nothing`() throws {
    let preview = try preview(
      #""notification": {"title": "t"}"#, [Self.device(kind: .liveActivity), Self.device()])
    #expect(Self.cause(preview) == .otherKind(.alert))
    #expect(preview.unserved == 0, "the job is sent whole for all that")
    let alone = try self.preview(
      #""notification": {"title": "t"}"#, [Self.device(kind: .liveActivity)])
    #expect(alone.unserved == 1)
  }
}
