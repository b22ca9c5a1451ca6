/// A job's request to one network, rendered once; per push only the device token differs.
package struct RenderedPush: Sendable, Equatable {
  /// The pseudo header `:path`. A device token needs no escaping: `DeviceToken` lets nothing else in.
  package enum Path: Sendable, Equatable {
    case perToken(prefix: [UInt8])
    case fixed([UInt8])
  }

  package enum Body: Sendable, Equatable {
    case shared([UInt8])
    /// Prefix, device token, suffix. The token needs no JSON escaping for the same reason.
    case aroundToken(prefix: [UInt8], suffix: [UInt8])
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

  /// Without pseudo headers and `authorization`.
  package let headers: [Header]
  package let path: Path
  package let body: Body
  package let dryRun: DryRun
}
