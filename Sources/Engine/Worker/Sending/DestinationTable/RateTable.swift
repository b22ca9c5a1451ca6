internal import Model
internal import Reactor

/// A lane's parts of the rates that its destinations keep to, found by their names, and those that are a whole app's by
/// app; loop-bound.
final class RateTable {
  private let loop: EventLoop
  private var byName: [String: RateAllowance] = [:]
  private var byApp: [String: RateAllowance] = [:]
  /// Called with a rate's name and how much of it is to be drawn.
  var onAsked: ((String, Int) -> Void)?

  init(loop: EventLoop) { self.loop = loop }

  /// Whether no destination keeps to a rate.
  var isEmpty: Bool { byName.isEmpty }

  subscript(name: String) -> RateAllowance? { byName[name] }

  /// The lane's part of the rate that an app as a whole keeps to.
  func allowance(ofApp app: String) -> RateAllowance? { byApp[app] }

  /// The lane's part of a rate, for one more destination.
  func allowance(
    of limit: RateLimit, app: String, for destination: Int,
    owner: any RateAllowanceOwner<RateAllowance>
  ) -> RateAllowance {
    let allowance = byName[limit.name] ?? RateAllowance(limit: limit, loop: loop, owner: owner)
    byName[limit.name] = allowance
    if allowance.limit != limit { allowance.change(to: limit) }
    allowance.join(destination)
    if limit.isOfApp { byApp[app] = allowance }
    return allowance
  }

  /// A destination keeps to its rates no more. Those that none keeps to are forgotten.
  func leave(_ destination: Destination) {
    for allowance in destination.limits {
      allowance.leave(destination.number)
      guard allowance.destinations.isEmpty, byName[allowance.limit.name] === allowance else {
        continue
      }
      allowance.close()
      byName[allowance.limit.name] = nil
      if byApp[destination.app] === allowance { byApp[destination.app] = nil }
    }
  }

  func close() {
    for allowance in byName.values { allowance.close() }
  }
}
