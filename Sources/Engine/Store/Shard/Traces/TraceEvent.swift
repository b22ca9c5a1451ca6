package import Model

/// One event of a job's trace, as it is read back.
package struct TraceEvent: Sendable, Equatable {
  /// When it was, epoch milliseconds by the worker's clock.
  package var atMs: Int64
  package var kind: TraceKind
  /// The lane that recorded it: `<worker>-<number>`.
  package var by = ""
  package var network: Network?
  package var environment: PushEnvironment?
  /// Empty of a user without an installation.
  package var token = ""
  /// Empty when it was not known.
  package var user = ""
  /// From 1; 0 when there was none.
  package var attempt = 0
  /// HTTP status; 0 when there was no answer.
  package var status = 0
  /// The network's word, as far as it is plain text.
  package var reason = ""
  /// From submission to the answer or its absence.
  package var elapsedMs: Int?
  package var decision: TraceDecision?
  package var cause: TraceCause?
  /// How long until it is tried again.
  package var delayMs: Int?
  /// How many events it stands for.
  package var count = 1

  package init(atMs: Int64, kind: TraceKind) {
    self.atMs = atMs
    self.kind = kind
  }

  /// Nil when the line is malformed.
  package init?(_ line: UnsafeRawBufferPointer, by: String = "") {
    var fields = TabFields(line)
    guard let at = fields.nextNumber(),
      let kind = fields.next().flatMap({ TraceKind(spelt: $0) }),
      let network = fields.next(), let environment = fields.next(), let token = fields.next(),
      let user = fields.next(), let attempt = fields.next(), let status = fields.next(),
      let reason = fields.next(), let elapsed = fields.next(), let decision = fields.next(),
      let cause = fields.next(), let delay = fields.next(), let count = fields.next(),
      fields.next() == nil
    else { return nil }
    self.init(atMs: StoredNumber.instantMs(Int64(clamping: at)), kind: kind)
    self.by = by
    self.network = Network(spelt: network)
    self.environment = PushEnvironment(spelt: environment)
    self.token = String(decoding: token, as: UTF8.self)
    self.user = String(decoding: user, as: UTF8.self)
    self.attempt = Self.number(attempt) ?? 0
    self.status = Self.number(status) ?? 0
    self.reason = String(decoding: reason, as: UTF8.self)
    elapsedMs = Self.number(elapsed)
    self.decision = TraceDecision(spelt: decision)
    self.cause = TraceCause(spelt: cause)
    delayMs = Self.number(delay)
    self.count = Self.number(count) ?? 1
  }

  private static func number(_ digits: UnsafeRawBufferPointer) -> Int? {
    digits.isEmpty ? nil : decimal(digits).map { Int(min($0, StoreLimits.traceCountMax)) }
  }
}

/// The kind of event that a line of a trace tells.
package enum TraceKind: String, Sendable, CaseIterable {
  /// The request was handed to a connection; of jobs that ask for a full trace only.
  case sent
  /// The network answered, and this followed.
  case answered
  /// Written, and no answer came: the network may have processed it.
  case unanswered
  /// Certainly not processed by the network.
  case unprocessed
  /// Decided without a request.
  case decided
  /// The store's decision about a token that was called dead.
  case settled
  /// A number of events that are not recorded.
  case omitted
}
