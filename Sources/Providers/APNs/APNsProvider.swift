package import Model

/// Apple's push network for one app in one environment.
package struct APNsProvider: PushProvider {
  package let network = Network.apns
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
    guard content.notification != nil || content.apns?.payload != nil else {
      throw InvalidField(
        pointer: "/apns",
        message: "the job has nothing for APNs: add a notification or apns.payload")
    }
    let payload = APNsPayload(content)
    let body = JSONValue.object(payload.object).bytes()
    try checkSize(body, payload.pushType, content)
    return RenderedPush(
      headers: try headers(content, pushType: payload.pushType, createdAtMs: createdAtMs),
      path: .perToken(prefix: Array("/3/device/".utf8)), body: .shared(body),
      dryRun: content.dryRun ? .skip : .off)
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
    for header in headers where TextRule.hasControl(header.value) {
      // Admission refuses these; a header is no place to trust that (request smuggling).
      throw InvalidField(
        pointer: header.name == "apns-collapse-id" ? "/collapse_id" : "/apns/topic",
        message: "must not hold control characters")
    }
    return headers
  }

  private func checkSize(
    _ body: [UInt8], _ pushType: APNsPushType, _ content: JobContent
  ) throws(InvalidField) {
    let bytesMax = pushType.payloadBytesMax
    guard body.count > bytesMax else { return }
    let ownBytes = content.apns?.payload.map { JSONValue.object($0).bytes().count } ?? 0
    throw InvalidField(
      pointer: ownBytes * 2 > body.count ? "/apns/payload" : "/notification",
      message: "makes an APNs payload of \(body.count.grouped) bytes, and "
        + "\(bytesMax.grouped) are allowed for push type \(pushType.rawValue): shorten it")
  }

  package func classify(_ answer: ProviderAnswer) -> Outcome {
    if answer.status == 200 { return .accepted }
    let object = answer.object
    let text = object?["reason"]?.stringValue
    let sinceMs = object?["timestamp"]?.int64Value
    if let reason = text.flatMap({ APNsReason(rawValue: $0) }) {
      return reason.outcome(sinceMs: sinceMs, retryAfterMs: answer.retryAfterMs)
    }
    return Self.outcome(
      answer, reason: text.map(FieldPointer.printable) ?? answer.statusReason, sinceMs: sinceMs)
  }

  package func sign(of outcome: Outcome, status: Int) -> AnswerSign {
    switch outcome {
    // Too many to this one device.
    case .retry(_, APNsReason.tooManyRequests.rawValue): .none
    case .retry where status == 408 || status == 429 || status >= 500: .trouble
    case .doubtfulToken, .rejected(APNsReason.deviceTokenNotForTopic.rawValue): .misfit
    default: .none
    }
  }

  /// An answer without a reason that is known: its status decides.
  private static func outcome(
    _ answer: ProviderAnswer, reason: String, sinceMs: Int64?
  ) -> Outcome {
    switch answer.status {
    case 401, 403: .authRefused(reason: reason)
    // Only an answer that has APNs's timestamp is surely APNs's own: a relay's 410 removes nothing.
    case 410 where sinceMs != nil: .invalidToken(reason: reason, sinceMs: sinceMs)
    case 408, 421, 425, 429, 500...599:
      .retry(afterMs: answer.retryAfterMs, reason: reason)
    default: .rejected(reason: reason)
    }
  }
}
