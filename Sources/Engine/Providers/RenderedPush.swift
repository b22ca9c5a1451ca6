internal import Model

/// A job's request to one network, rendered once; only the device tokens differ.
package struct RenderedPush: Sendable, Equatable {
  /// The pseudo header `:path`. A device token needs no escaping: `DeviceToken` lets nothing else in.
  package enum Path: Sendable, Equatable {
    case perToken(prefix: [UInt8])
    case fixed([UInt8])
  }

  package enum Body: Sendable, Equatable {
    case shared([UInt8])
    /// Prefix, device token, suffix. The token needs no JSON escaping for the same reason. `fidPrefix` is the prefix of what
    /// goes to a `FirebaseInstallationID`; neither holds marks.
    case aroundToken(prefix: [UInt8], fidPrefix: [UInt8], suffix: [UInt8])
    /// The parts of a request that takes several pushes: before its id, between the id and the first device token,
    /// between two tokens, and after the last. The id is a UUID, and tells the network that a repeated request is the
    /// same one.
    case aroundTokens(
      opening: [UInt8], afterID: [UInt8], separator: [UInt8], closing: [UInt8])
  }

  package enum DryRun: Sendable, Equatable {
    case off
    /// The network has no dry run: nothing is sent.
    case skip
    /// Sent; the network checks the request and delivers nothing.
    case validateOnly
  }

  package struct Header: Sendable, Equatable {
    /// Lowercase.
    package let name: String
    /// `TextRule.isHeaderValue`.
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A part of a request that the network limits. It was held to at the rendering; where texts are filled in for each
  /// user it is looked at again.
  package struct Limit: Sendable, Equatable {
    /// The text that is counted, as it was rendered.
    package let text: [UInt8]
    package let bytesMax: Int
    /// Whether what is counted is JSON, with its escapes, and not the plain text.
    package let isJSON: Bool
    /// Bytes that the network may count beside the text. They count at admission, and not where texts are filled in.
    package var framingBytes = 0
    /// The name of the part, to be read behind the network's name.
    package var part = "payload"

    /// Bytes that the network counts, as it was rendered.
    package var bytes: Int { framingBytes + text.count }

    /// Bytes that the network will count at most, a badge that is raised in its longest form.
    func bytes(_ content: JobContent) -> Int {
      bytes + (content.raisesBadge ? Mark.badgeGrowth(of: text) : 0)
    }
  }

  /// Without pseudo headers and `authorization`.
  package let headers: [Header]
  package let path: Path
  package let body: Body
  package let dryRun: DryRun
  package var limits: [Limit] = []
}

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
