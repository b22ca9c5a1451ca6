package import HTTP2
package import Model

/// Firebase Cloud Messaging, HTTP v1, for one project.
package struct FCMProvider: PushProvider {
  package let network = Network.fcm
  package let tellsRemainingTime = true
  package let acceptedForm = AcceptedForm.object(
    firstMember: "name", beginning: "projects/")
  package let destination: PushDestination
  package let credentials: any CredentialSource
  package let projectID: String
  private let path: [UInt8]

  /// - Parameter projectID: letters, digits and - . : _ only, as `ServiceAccount` checks.
  package init(
    projectID: String, destination: PushDestination, credentials: any CredentialSource
  ) {
    self.projectID = projectID
    path = Array("/v1/projects/\(projectID)/messages:send".utf8)
    self.destination = destination
    self.credentials = credentials
  }

  package func render(
    _ content: JobContent, createdAtMs: Int64, nowMs: Int64
  ) throws(InvalidField) -> RenderedPush {
    guard content.hasCommonPart || content.fcm != nil else {
      throw InvalidField(
        pointer: "/fcm", message: "the job has nothing for FCM: add a notification or fcm.message")
    }
    let message = FCMMessage(content, createdAtMs: createdAtMs, nowMs: nowMs)
    let limits = FCMPayload.limits(of: message.object)
    try Self.check(limits.map(\.text.count), content)
    let members = JSONValue.object(message.object).bytes()
    let opening = content.dryRun ? #"{"validate_only":true,"message":{"# : #"{"message":{"#
    // The other members follow the token: their opening brace becomes a comma.
    var suffix = Array((message.object.isEmpty ? #"""# : #"","#).utf8)
    suffix += members.dropFirst()
    suffix.append(UInt8(ascii: "}"))
    return RenderedPush(
      headers: [RenderedPush.Header("content-type", "application/json")], path: .fixed(path),
      body: .aroundToken(
        prefix: Array("\(opening)\"token\":\"".utf8),
        fidPrefix: Array("\(opening)\"fid\":\"".utf8), suffix: suffix),
      dryRun: content.dryRun ? .validateOnly : .off,
      limits: limits)
  }

  package func checkAdmission(
    of content: JobContent, as rendered: RenderedPush
  ) throws(InvalidField) {
    try Self.check(rendered.limits.map(\.bytes), content)
  }

  private static func check(_ sizes: [Int], _ content: JobContent) throws(InvalidField) {
    let bytesMax = FCMLimits.payloadBytesMax
    guard let bytes = sizes.max(), bytes > bytesMax else { return }
    let ownBytes = content.fcm.map { JSONValue.object($0.message).bytes().count } ?? 0
    throw InvalidField(
      pointer: ownBytes * 2 > bytes ? "/fcm/message" : content.commonPart,
      message: "makes an FCM payload of \(bytes.grouped) bytes of notification and data, as FCM "
        + "counts, and \(bytesMax.grouped) are allowed: shorten it")
  }

  package func classify(_ answer: ProviderAnswer) -> Classification {
    if answer.status == 200 {
      return Self.isAccept(answer) ? .accepted : .foreign(reason: answer.foreignReason("FCM"))
    }
    let error = FCMError(answer)
    guard let code = error?.errorCode, let httpStatus = code.httpStatus else {
      return Self.classification(
        answer, error, reason: error?.status.map { ForeignText.printable($0) })
    }
    guard httpStatus == answer.status else { return Self.misplaced(code, answer) }
    return Self.classification(code, error, answer)
  }

  package func sign(of classification: Classification, status: Int) -> AnswerSign {
    switch classification {
    case .retry where status == 429: .overRate
    case .retry, .foreign: .trouble
    case .rejected(FCMErrorCode.senderIDMismatch.rawValue): .misfit
    case .rejected(FCMErrorCode.thirdPartyAuthError.rawValue): .setup
    // FCM names no field: the payload may be to blame, and so may the token.
    case .rejected(FCMErrorCode.invalidArgument.rawValue): .content(isSure: false)
    case .rejected(let reason) where reason.hasPrefix(Self.fieldReason("")):
      Self.blamesContent(reason) ? .content(isSure: true) : .none
    // FCM has no such word for a token: what all pushes meet with is how the app is set up.
    case .rejected(let reason) where isOwnWord(reason): .misfit
    default: .none
    }
  }

  /// Whether a reason names a field of the message, other than the one that differs from device to device.
  private static func blamesContent(_ reason: String) -> Bool {
    !["message.token", "message.fid"].contains { reason == fieldReason($0) }
  }

  private static func fieldReason(_ field: String) -> String {
    "\(FCMErrorCode.invalidArgument.rawValue) in \(field)"
  }

  package func remedy(for reason: String) -> String {
    switch FCMErrorCode(rawValue: reason) {
    case .thirdPartyAuthError:
      "give Firebase the app's APNs key (Project settings, Cloud Messaging)"
    default: "compare the service account's project with the one that the app's tokens are of"
    }
  }

  package func blamesAbsentToken(_ reason: String) -> Bool {
    [
      FCMErrorCode.invalidArgument.rawValue, Self.fieldReason("message.token"),
      FCMErrorCode.senderIDMismatch.rawValue,
    ].contains(reason)
  }

  package func remedy(forRefusedCredential reason: String) -> String {
    FCMRefusal.remedy(reason, project: projectID, account: "the service account")
      ?? "check that the service account may send for project \(projectID)"
  }

  /// Whether a 200 is FCM's: it has the name of the message, `projects/…/messages/…` (firebase.google.com, "Method:
  /// projects.messages.send").
  private static func isAccept(_ answer: ProviderAnswer) -> Bool {
    answer.isBegun(#"{"name":"projects/"#)
      || answer.object?["name"]?.stringValue?.hasPrefix("projects/") == true
  }

  /// FCM's own code, with the status that it comes with.
  private static func classification(
    _ code: FCMErrorCode, _ error: FCMError?, _ answer: ProviderAnswer
  ) -> Classification {
    switch code {
    case .unspecified: classification(answer, error, reason: nil)
    case .unregistered: .invalidToken(reason: code.rawValue, sinceMs: nil)
    case .invalidArgument:
      // It may be the payload and it may be the token: unsure means no uninstall.
      .rejected(reason: invalidArgument(error))
    case .senderIDMismatch, .thirdPartyAuthError: .rejected(reason: code.rawValue)
    case .quotaExceeded:
      retry(answer, afterMsMin: FCMLimits.quotaRetryMsMin, code.rawValue)
    case .unavailable, .internalError:
      retry(answer, afterMsMin: FCMLimits.troubleRetryMsMin, code.rawValue)
    }
  }

  /// A code with a status that it does not come with: no token is removed and no credential paused for it.
  private static func misplaced(_ code: FCMErrorCode, _ answer: ProviderAnswer) -> Classification {
    let reason = "\(code.rawValue) with status \(answer.status)"
    switch answer.status {
    case 429: return retry(answer, afterMsMin: FCMLimits.quotaRetryMsMin, reason)
    case 401, 403, 407, 408, 500...599:
      return retry(answer, afterMsMin: FCMLimits.troubleRetryMsMin, reason)
    default: return .rejected(reason: reason)
    }
  }

  /// No code of FCM's: the HTTP status decides.
  private static func classification(
    _ answer: ProviderAnswer, _ error: FCMError?, reason named: String?
  ) -> Classification {
    let reason = named ?? answer.statusReason
    switch answer.status {
    case 401 where error?.concernsCredential == true, 403 where error?.concernsCredential == true:
      return .authRefused(reason: error?.infoReason.map { ForeignText.printable($0) } ?? reason)
    // Said by whoever the token is for (RFC 9110, 15.5.2); a proxy has 407 for its own.
    case 401 where answer.body.isEmpty: return .authRefused(reason: reason)
    case 429: return retry(answer, afterMsMin: FCMLimits.quotaRetryMsMin, reason)
    case 408, 500...599,
      _ where error?.isPassing == true:
      return retry(answer, afterMsMin: FCMLimits.troubleRetryMsMin, reason)
    // What stands before FCM (a proxy, a gateway) knows nothing of our credential, nor of tokens.
    case _ where error == nil && !answer.isLongObject:
      return .foreign(reason: answer.foreignReason("FCM"))
    case 401, 403, 407:
      return retry(
        answer, afterMsMin: FCMLimits.troubleRetryMsMin,
        named ?? answer.statusReason)
    case 400 where error?.status == FCMErrorCode.invalidArgument.rawValue:
      return .rejected(reason: invalidArgument(error))
    default: return .rejected(reason: reason)
    }
  }

  private static func invalidArgument(_ error: FCMError?) -> String {
    let code = FCMErrorCode.invalidArgument.rawValue
    guard let field = error?.blamedField, !field.isEmpty else { return code }
    return fieldReason(ForeignText.printable(field))
  }

  private static func retry(
    _ answer: ProviderAnswer, afterMsMin: UInt64, _ reason: String
  ) -> Classification {
    .retry(afterMs: max(afterMsMin, answer.retryAfterMs ?? 0), reason: reason)
  }
}
