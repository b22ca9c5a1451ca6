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
