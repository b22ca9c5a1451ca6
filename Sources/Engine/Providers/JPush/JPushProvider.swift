package import Model

/// JPush (Aurora), Push API v3, for one app in one environment of APNs
/// (docs.jiguang.cn/jpush/server/push/rest_api_v3_push).
package struct JPushProvider: PushProvider {
  package let network = Network.jpush
  package let tellsRemainingTime = true
  package let pushesPerRequest = JPushLimits.pushesPerRequest
  package let destination: PushDestination
  package let credentials: any CredentialSource
  private let appKey: String
  private let environment: PushEnvironment

  /// - Parameters:
  ///   - appKey: letters and digits only.
  ///   - environment: which APNs JPush uses for iOS; Android has but one.
  package init(
    appKey: String, environment: PushEnvironment, destination: PushDestination,
    credentials: any CredentialSource
  ) {
    self.appKey = appKey
    self.environment = environment
    self.destination = destination
    self.credentials = credentials
  }

  package func render(
    _ content: JobContent, createdAtMs: Int64, nowMs: Int64
  ) throws(InvalidField) -> RenderedPush {
    let request = JPushRequest(
      content, environment: environment, createdAtMs: createdAtMs, nowMs: nowMs)
    guard request.hasContent else {
      throw InvalidField(
        pointer: "/jpush",
        message: "the job has nothing for JPush: add a notification, jpush.notification or "
          + "jpush.message")
    }
    let limits = try limits(request, content)
    // The other members follow the audience: their opening brace becomes a comma.
    var closing = Array(#""]},"#.utf8)
    closing += JSONValue.object(request.object).bytes().dropFirst()
    return RenderedPush(
      headers: [RenderedPush.Header("content-type", "application/json")],
      path: .fixed(Array((content.dryRun ? "/v3/push/validate" : "/v3/push").utf8)),
      // A cid has the form {appkey}-{uuid}.
      body: .aroundTokens(
        opening: Array(#"{"cid":"\#(appKey)-"#.utf8),
        afterID: Array(#"","audience":{"registration_id":[""#.utf8),
        separator: Array(#"",""#.utf8), closing: closing),
      dryRun: content.dryRun ? .validateOnly : .off, limits: limits)
  }

  private func limits(
    _ request: JPushRequest, _ content: JobContent
  ) throws(InvalidField) -> [RenderedPush.Limit] {
    let limits = [
      RenderedPush.Limit(
        text: request.iosPart, bytesMax: JPushLimits.iosBytesMax, isJSON: true,
        part: "notification for iOS"),
      RenderedPush.Limit(
        text: request.androidPart, bytesMax: JPushLimits.androidBytesMax, isJSON: true,
        part: "notification and message for Android"),
    ]
    for limit in limits {
      let bytes = limit.bytes(content)
      guard bytes > limit.bytesMax else { continue }
      let ownBytes = content.jpush.map { JSONValue.object($0.payload).bytes().count } ?? 0
      throw InvalidField(
        pointer: ownBytes * 2 > bytes ? "/jpush" : content.commonPart,
        message: "makes a JPush \(limit.part) of \(bytes.grouped) bytes, and "
          + "\(limit.bytesMax.grouped) are allowed: shorten it")
    }
    return limits
  }

  package func classify(_ answer: ProviderAnswer) -> Classification {
    if answer.status == 200 {
      return Self.isAccept(answer) ? .accepted : .foreign(reason: answer.foreignReason("JPush"))
    }
    guard let error = JPushError(answer) else { return Self.foreign(answer) }
    guard let code = error.code else { return Self.byStatus(answer, error.foreignReason) }
    guard code.httpStatus == answer.status else {
      return Self.byStatus(answer, "\(code.reason) with status \(answer.status)")
    }
    return Self.classification(code, error, answer)
  }

  /// An answer that blames another registration ID, as a relay may give it, says nothing of this one.
  package func classify(_ answer: ProviderAnswer, of token: UnsafeRawBufferPointer)
    -> Classification
  {
    let classification = classify(answer)
    guard case .doubtfulToken = classification,
      let blamed = JPushError(answer)?.blamedRegistrationID, !token.elementsEqual(blamed.utf8)
    else { return classification }
    return .rejected(reason: "1003 another registration ID is invalid")
  }

  /// JPush's answer is about all registration IDs of a request. So nobody is removed for it, unless it was alone in one.
  package func classify(_ answer: ProviderAnswer, pushes: Int) -> BatchClassification {
    guard case .doubtfulToken(let reason) = classify(answer) else { return .all(classify(answer)) }
    // That so many are gone at once is no accident: it is the app key of another app.
    if reason == JPushErrorCode.noTarget.reason, pushes > JPushLimits.goneTogetherMax {
      return .all(.rejected(reason: reason))
    }
    return .split(reason: reason, token: JPushError(answer)?.blamedRegistrationID)
  }

  package func sign(of classification: Classification, status: Int) -> AnswerSign {
    switch classification {
    case .retry, .foreign: .trouble
    case .doubtfulToken, .rejected(JPushErrorCode.noTarget.reason): .misfit
    default: .none
    }
  }

  /// The check of requests may be forbidden to an app (2007).
  package var mayRefuseChecks: Bool { true }

  package func remedy(forRefusedCredential reason: String) -> String {
    "correct app_key or the master secret, or look at the app in JPush's console"
  }

  /// JPush's own code, with the status that it comes with, about a request to one registration ID.
  private static func classification(
    _ code: JPushErrorCode, _ error: JPushError, _ answer: ProviderAnswer
  ) -> Classification {
    switch code {
    // Said of an app that is gone, of one that was not opened for long, and of an ID of another app key, which is our
    // mistake (docs.jiguang.cn/jpush/client/Android/android_faq, "1011").
    case .noTarget: .doubtfulToken(reason: code.reason)
    case .invalidParameter where error.blamesRegistrationID:
      .doubtfulToken(reason: "\(code.rawValue) registration ID is invalid")
    // The app may not have requests checked. Whether it may send them, this does not say.
    case .interfaceNotAllowed where answer.isDryRun: .rejected(reason: code.reason)
    case .authenticationFailed, .invalidAppKey, .appKeyRestricted, .addressNotAllowed,
      .interfaceNotAllowed:
      .authRefused(reason: code.reason)
    // What takes TLS away from requests is a relay of ours: none is lost until it is mended.
    case .notHTTPS: .retry(afterMs: answer.retryAfterMs, reason: code.reason)
    case .internalError, .serviceTimeout, .rateExceeded: byStatus(answer, code.reason)
    case .methodNotAllowed, .missingParameter, .invalidParameter, .messageTooLarge,
      .unsupportedKey, .pacedPushesExceeded, .volumeExceeded, .premiumOnly:
      .rejected(reason: code.reason)
    }
  }

  /// An answer that is not in the form of JPush's own. What stands before it (a proxy, a gateway) knows nothing of
  /// registration IDs and credentials.
  private static func foreign(_ answer: ProviderAnswer) -> Classification {
    switch answer.status {
    case 408, 429, 500...599: byStatus(answer, answer.statusReason)
    case _ where answer.isLongObject: byStatus(answer, answer.statusReason)
    default: .foreign(reason: answer.foreignReason("JPush"))
    }
  }

  /// Whether a 200 is JPush's: it has the id of the message. Of the check of a request it is only known that it has no error.
  private static func isAccept(_ answer: ProviderAnswer) -> Bool {
    // Its members come in any order, and that of a complaint has another name.
    if answer.isBegun("{\"msg_id\":") || answer.isBegun("{\"sendno\":") { return true }
    // A complaint may have the id of a message as well.
    guard let object = answer.object, object["error"] == nil else { return false }
    switch object["msg_id"] {
    case .string(let id) where isMessage(id): return true
    case .number(let id) where isMessage(id.text): return true
    default: return answer.isDryRun
    }
  }

  /// Whether it can be the id of a message: JPush counts these from 1. Nothing and zero are a relay's, of a message that is none.
  private static func isMessage(_ id: String) -> Bool {
    id.utf8.contains { TextRule.isLetterOrDigit($0) && $0 != UInt8(ascii: "0") }
  }

  private static func byStatus(_ answer: ProviderAnswer, _ reason: String) -> Classification {
    switch answer.status {
    case 429:
      .retry(afterMs: answer.retryAfterMs ?? JPushLimits.rateWindowMs, reason: reason)
    case 401, 403, 407, 408, 500...599: .retry(afterMs: answer.retryAfterMs, reason: reason)
    default: .rejected(reason: reason)
    }
  }
}
