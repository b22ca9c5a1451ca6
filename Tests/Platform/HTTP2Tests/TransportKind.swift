/// The transports that one conformance suite holds to the same.
enum TransportKind: String, CaseIterable, Sendable {
  case native
  case curl
}
