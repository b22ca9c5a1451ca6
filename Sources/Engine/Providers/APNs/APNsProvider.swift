package import HTTP2
package import Model

/// Apple's push network for one app in one environment.
package struct APNsProvider: PushProvider {
  package let network = Network.apns
  package let tellsRemainingTime = false
  package let acceptedForm = AcceptedForm.empty
  package let destination: PushDestination
  package let credentials: any CredentialSource
  private let topic: String

  /// - Parameter topic: the app's bundle identifier, without the suffix of a push type.
  package init(
    topic: String, destination: PushDestination, credentials: any CredentialSource
  ) {
    self.topic = topic
    self.destination = destination
    self.credentials = credentials
  }

  package func render(
    _ content: JobContent, createdAtMs: Int64, nowMs: Int64
  ) throws(InvalidField) -> RenderedPush {
    guard content.hasCommonPart || content.apns?.payload != nil else {
      throw InvalidField(
        pointer: "/apns",
        message: "the job has nothing for APNs: add a notification or apns.payload")
    }
    let payload = APNsPayload(content, createdAtMs: createdAtMs)
    let body = JSONValue.object(payload.object).bytes()
    let limit = RenderedPush.Limit(
      text: body, bytesMax: payload.pushType.payloadBytesMax, isJSON: true)
    try checkSize(limit, payload.pushType, content)
    return RenderedPush(
      headers: try headers(content, pushType: payload.pushType, createdAtMs: createdAtMs),
      path: .perToken(prefix: Array("/3/device/".utf8)), body: .shared(body),
      dryRun: content.dryRun ? .skip : .off,
      limits: [limit])
  }

  private func headers(
    _ content: JobContent, pushType: APNsPushType, createdAtMs: Int64
  ) throws(InvalidField) -> [RenderedPush.Header] {
    let priority =
      content.apns?.priority ?? (pushType == .background ? .conservesPower : .immediate)
    if pushType == .background, priority != .conservesPower {
      throw InvalidField(
        pointer: "/apns/priority",
        message: "must be 5 for a background push, is \(priority.rawValue)")
    }
    var headers = [
      RenderedPush.Header("apns-topic", pushType.topic(content.apns?.topic ?? topic)),
      RenderedPush.Header("apns-push-type", pushType.rawValue),
      RenderedPush.Header("apns-priority", String(priority.rawValue)),
    ]
    switch content.expiry {
    case .ttl(seconds: 0): headers.append(RenderedPush.Header("apns-expiration", "0"))
    case let expiry?:
      let seconds = expiry.expiresAtMs(createdAtMs: createdAtMs) / 1_000
      headers.append(RenderedPush.Header("apns-expiration", String(seconds)))
    case nil: break
    }
    if let collapseID = content.collapseID {
      headers.append(RenderedPush.Header("apns-collapse-id", collapseID))
    }
    for header in headers where !TextRule.isHeaderValue(header.value) {
      // Admission refuses these; a header is no place to trust that (request smuggling; RFC 9113, 8.2.1).
      throw InvalidField(
        pointer: header.name == "apns-collapse-id" ? "/collapse_id" : "/apns/topic",
        message: "must be printable ASCII without a space at its beginning or end")
    }
    return headers
  }

  private func checkSize(
    _ limit: RenderedPush.Limit, _ pushType: APNsPushType, _ content: JobContent
  ) throws(InvalidField) {
    let bytes = limit.bytes(content)
    guard bytes > limit.bytesMax else { return }
    let ownBytes = content.apns?.payload.map { JSONValue.object($0).bytes().count } ?? 0
    let badge = bytes > limit.text.count ? " with a badge of ten digits" : ""
    throw InvalidField(
      pointer: ownBytes * 2 > bytes ? "/apns/payload" : content.commonPart,
      message: "makes an APNs payload of \(bytes.grouped) bytes\(badge), and "
        + "\(limit.bytesMax.grouped) are allowed for push type \(pushType.rawValue): shorten it")
  }

  package func classify(_ answer: ProviderAnswer) -> Classification {
    if answer.status == 200 {
      return answer.body.isEmpty ? .accepted : .foreign(reason: answer.foreignReason("APNs"))
    }
    let object = answer.object
    guard let text = object?["reason"]?.stringValue else { return Self.foreign(answer) }
    guard let reason = APNsReason(rawValue: text) else {
      return Self.classification(answer, newReason: ForeignText.printable(text))
    }
    let classification = reason.classification(
      timestamp: APNsTimestamp(object), retryAfterMs: answer.retryAfterMs)
    // A relay may say 401 of a credential where APNs says 403.
    if case .authRefused = classification, answer.status == 401 { return classification }
    return reason.status == answer.status ? classification : Self.misplaced(reason, answer)
  }

  package func sign(of classification: Classification, status: Int) -> AnswerSign {
    switch classification {
    // Too many to this one device.
    case .retry(_, APNsReason.tooManyRequests.rawValue): .none
    // Trouble of this one push or connection.
    case .retry where [400, 421, 425].contains(status): .none
    case .retry, .foreign: .trouble
    case .doubtfulToken, .rejected(APNsReason.deviceTokenNotForTopic.rawValue): .misfit
    case .rejected(let reason):
      // A new word may be about the app as well as about the token.
      APNsReason(rawValue: reason)?.rejectionSign ?? (isOwnWord(reason) ? .misfit : .none)
    default: .none
    }
  }

  package func remedy(for reason: String) -> String {
    switch APNsReason(rawValue: reason) {
    case .badTopic, .missingTopic, .topicDisallowed:
      "compare the account's topic with the app's bundle id, and with the topics of the key"
    case .deviceTokenNotForTopic:
      "compare the account's topic with the app that its device tokens are of"
    default: "check the account's endpoint"
    }
  }

  package func blamesAbsentToken(_ reason: String) -> Bool {
    reason == APNsReason.deviceTokenNotForTopic.rawValue
  }

  package func remedy(forRefusedCredential reason: String) -> String {
    credentials.hasHeader
      ? "check key_id, team_id and the key, that the key is enabled for this topic and "
        + "environment, and the clock of Redis's machine, by which tokens are dated"
      : "replace the certificate, or check that it is for this app and environment"
  }

  /// An answer in the form of APNs's with a reason that is not known: its status decides, and removes nothing. A word in
  /// another spelling, or a new one, need not mean that the device is gone.
  private static func classification(
    _ answer: ProviderAnswer, newReason reason: String
  ) -> Classification {
    switch answer.status {
    case 401, 403: .authRefused(reason: reason)
    default: byStatus(answer, reason)
    }
  }

  /// A reason with a status that it does not come with: no token is removed and no credential paused for it.
  private static func misplaced(_ reason: APNsReason, _ answer: ProviderAnswer) -> Classification {
    byStatus(answer, "\(reason.rawValue) with status \(answer.status)")
  }

  /// An answer that is not in the form of APNs's own. What stands before it (a proxy, a gateway) knows nothing of
  /// tokens and credentials.
  private static func foreign(_ answer: ProviderAnswer) -> Classification {
    switch answer.status {
    case 408, 429, 500...599: byStatus(answer, answer.statusReason)
    case _ where answer.isLongObject: byStatus(answer, answer.statusReason)
    default: .foreign(reason: answer.foreignReason("APNs"))
    }
  }

  private static func byStatus(_ answer: ProviderAnswer, _ reason: String) -> Classification {
    switch answer.status {
    case 401, 403, 407, 408, 421, 425, 429, 500...599:
      .retry(afterMs: answer.retryAfterMs, reason: reason)
    default: .rejected(reason: reason)
    }
  }
}

extension APNsPushType {
  /// The part that follows the bundle identifier in `apns-topic` (developer.apple.com, "Sending notification requests
  /// to APNs").
  var topicSuffix: String? {
    switch self {
    case .alert, .background, .mdm: nil
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushToTalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  /// `topic` with the suffix of this push type, unless it has it already.
  func topic(_ topic: String) -> String {
    guard let suffix = topicSuffix, !topic.hasSuffix(suffix) else { return topic }
    return topic + suffix
  }

  var payloadBytesMax: Int {
    self == .voip ? APNsLimits.voIPPayloadBytesMax : APNsLimits.payloadBytesMax
  }
}
