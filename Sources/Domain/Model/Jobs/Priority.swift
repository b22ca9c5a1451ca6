/// The priority of a job: the stream that the producer adds it to.
package enum Priority: String, Sendable, Hashable, CaseIterable {
  case high, normal, low
}
