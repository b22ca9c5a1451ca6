/// The transport that carries the pushes to a provider.
package enum TransportChoice: String, Sendable, CaseIterable {
  case native
  case curl
}
