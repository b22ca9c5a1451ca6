package import Model

/// One event of a trace as a lane writes it, borrowed; a line of tab-separated fields:
/// `at_ms kind network environment token user attempt status reason elapsed_ms decision cause delay_ms count`,
/// each empty when there is nothing to say.
package struct TraceLine {
  package var atMs: Int64
  package var kind: TraceKind
  package var network: Network?
  package var environment: PushEnvironment?
  package var token = UnsafeRawBufferPointer(start: nil, count: 0)
  package var user = UnsafeRawBufferPointer(start: nil, count: 0)
  package var attempt = 0
  package var status = 0
  /// Anything; what is not printable ASCII is replaced, what is too long is cut.
  package var reason = ""
  package var elapsedMs: UInt64?
  package var decision: TraceDecision?
  package var cause: TraceCause?
  package var delayMs: UInt64?
  package var count = 1

  package init(atMs: Int64, kind: TraceKind) {
    self.atMs = atMs
    self.kind = kind
  }

  package func append(to lines: inout [UInt8]) {
    let tab = UInt8(ascii: "\t")
    func word(_ text: String?) {
      if let text { lines.append(contentsOf: text.utf8) }
      lines.append(tab)
    }
    func number(_ number: UInt64) {
      if number > 0 { lines.append(contentsOf: String(number).utf8) }
      lines.append(tab)
    }
    lines.append(contentsOf: String(max(atMs, 0)).utf8)
    lines.append(tab)
    word(kind.rawValue)
    word(network?.rawValue)
    word(environment?.rawValue)
    lines.append(contentsOf: token)
    lines.append(tab)
    lines.append(contentsOf: user)
    lines.append(tab)
    number(UInt64(max(attempt, 0)))
    number(UInt64(max(status, 0)))
    for byte in reason.utf8.prefix(StoreLimits.traceReasonBytesMax) {
      lines.append((0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: "?"))
    }
    lines.append(tab)
    word(elapsedMs.map { String($0) })
    word(decision?.rawValue)
    word(cause?.rawValue)
    word(delayMs.map { String($0) })
    if count != 1 { lines.append(contentsOf: String(count).utf8) }
    lines.append(UInt8(ascii: "\n"))
  }
}
