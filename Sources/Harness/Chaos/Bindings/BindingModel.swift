import Model
import Store

/// A model of one device token's binding, operation by operation: the rules of docs/reference/installations.md again.
struct BindingModel: Sendable {
  struct Binding: Sendable, Equatable {
    var user: String
    /// Nil when an operation of the round itself drew it, so that nobody can have read it yet.
    var generation: UInt64?
    var updatedAtMs: Int64
  }

  enum Operation: Sendable {
    case install(user: String)
    /// By the owner; nil by anyone.
    case uninstall(owner: String?)
    /// A network's verdict about a binding that was read before.
    case invalidate(Verdict)
  }

  struct Verdict: Sendable, Equatable {
    var user: String
    var generation: UInt64
    var sinceMs: Int64?
  }

  enum Answer: Sendable, Equatable {
    case installed(InstallResult.Status, previousUser: String)
    case removal(UninstallAnswer)
  }

  var binding: Binding?

  mutating func apply(_ operation: Operation) -> Answer {
    switch operation {
    case .install(let user):
      let previous = binding?.user
      let status: InstallResult.Status =
        previous == nil ? .created : previous == user ? .updated : .moved
      binding = Binding(user: user, generation: nil, updatedAtMs: .max)
      return .installed(status, previousUser: previous ?? "")
    case .uninstall(let owner):
      guard let binding else { return .removal(.absent) }
      if let owner, owner != binding.user { return .removal(.otherOwner) }
      self.binding = nil
      return .removal(.removed)
    case .invalidate(let verdict):
      guard let binding else { return .removal(.absent) }
      guard binding.user == verdict.user, binding.generation == verdict.generation,
        verdict.sinceMs.map({ $0 >= binding.updatedAtMs }) ?? true
      else { return .removal(.stale) }
      self.binding = nil
      return .removal(.removed)
    }
  }

  /// Whether the operations, made at once, could have brought these answers and this end in any order.
  /// - Parameter end: what stands in Redis after them; its generation tells nothing when it is a new one.
  func explains(_ operations: [Operation], _ answers: [Answer], end: Binding?) -> Bool {
    explains(operations, answers, end, done: 0)
  }

  private func explains(
    _ operations: [Operation], _ answers: [Answer], _ end: Binding?, done: Int
  ) -> Bool {
    if done == (1 << operations.count) - 1 { return isEnd(end) }
    for index in operations.indices where done & (1 << index) == 0 {
      var next = self
      guard next.apply(operations[index]) == answers[index] else { continue }
      if next.explains(operations, answers, end, done: done | 1 << index) { return true }
    }
    return false
  }

  private func isEnd(_ end: Binding?) -> Bool {
    guard let binding, let end else { return binding == nil && end == nil }
    guard binding.user == end.user else { return false }
    return binding.generation == nil || binding.generation == end.generation
  }
}
