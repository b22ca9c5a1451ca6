internal import Model

// The request to one device, as text: for people to read, and for the benchmark's yardstick. Workers write the same pieces
// into a request without putting them together.
extension RenderedPush {
  /// The pseudo header `:path`.
  package func path(to token: String) -> [UInt8] {
    switch path {
    case .perToken(let prefix): prefix + Array(token.utf8)
    case .fixed(let path): path
    }
  }

  /// - Parameters:
  ///   - tokens: one at least. Those behind the first are left out where a request carries one push.
  ///   - id: the request's, where it has one.
  ///   - isFID: whether the token is a `FirebaseInstallationID`; nil where it tells by itself.
  package func body(to tokens: [String], id: String, isFID: Bool? = nil) -> [UInt8] {
    let isFID = isFID ?? FirebaseInstallationID.isOne(tokens[0])
    let tokens = tokens.map { Array($0.utf8) }
    return switch body {
    case .shared(let bytes): bytes
    case .aroundToken(let prefix, let fidPrefix, let suffix):
      (isFID ? fidPrefix : prefix) + tokens[0] + suffix
    case .aroundTokens(let opening, let afterID, let separator, let closing):
      opening + Array(id.utf8) + afterID + Array(tokens.joined(separator: separator)) + closing
    }
  }

  /// Whether it holds marks, if its content may.
  package var holdsMarks: Bool {
    let parts =
      switch body {
      case .shared(let bytes): [bytes]
      case .aroundToken(_, _, let suffix): [suffix]
      case .aroundTokens(let opening, let afterID, _, let closing): [opening, afterID, closing]
      }
    return parts.contains { !Mark.cut($0).parts.isEmpty }
  }

  /// Returns the request with what stands for one push in the place of the marks; only of a content that has some
  /// (`MessageVariants`).
  /// - Parameters:
  ///   - badge: the installation's.
  ///   - value: of the placeholder of a number.
  package func filled(badge: Int, with value: (Int) -> String) -> RenderedPush {
    func filled(_ bytes: [UInt8], isJSON: Bool = true, badge: Int = badge) -> [UInt8] {
      let (parts, rest) = Mark.cut(bytes)
      var whole: [UInt8] = []
      for (before, mark) in parts {
        whole += before
        let text =
          switch mark {
          case .value(let number): Array(value(number).utf8)
          case .badge(let max): Array(Mark.badgeText(badge, atMost: max).utf8)
          }
        if isJSON {
          text.withUnsafeBytes { JSONWriter.appendEscaped($0, to: &whole) }
        } else {
          whole += text
        }
      }
      return whole + rest
    }
    let body: Body =
      switch body {
      case .shared(let bytes): .shared(filled(bytes))
      case .aroundToken(let prefix, let fidPrefix, let suffix):
        .aroundToken(prefix: prefix, fidPrefix: fidPrefix, suffix: filled(suffix))
      case .aroundTokens(let opening, let afterID, let separator, let closing):
        .aroundTokens(
          opening: filled(opening), afterID: filled(afterID), separator: separator,
          closing: filled(closing))
      }
    let limits = limits.map { limit in
      Limit(
        // A badge counts in its longest form, whatever it is now.
        text: filled(limit.text, isJSON: limit.isJSON, badge: Limits.badgeMax),
        bytesMax: limit.bytesMax, isJSON: limit.isJSON, framingBytes: limit.framingBytes,
        part: limit.part)
    }
    return RenderedPush(headers: headers, path: path, body: body, dryRun: dryRun, limits: limits)
  }
}
