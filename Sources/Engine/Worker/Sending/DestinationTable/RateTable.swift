internal import Model
internal import Reactor

/// A lane's parts of the rates that its destinations keep to, found by their names, and those that are a whole app's by
/// app; loop-bound.
final class RateTable {
  private let loop: EventLoop
  private var byName: [String: RateAllowance] = [:]
  private var byApp: [String: RateAllowance] = [:]
  /// By name: what each destination, by its number, takes for the rate. Apps of Redis may say different things of one account.
  private var limits: [String: [Int: RateLimit]] = [:]
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
    allowance.join(destination)
    note(limit, for: destination)
    if limit.isOfApp { byApp[app] = allowance }
    return allowance
  }

  /// A destination takes this for a rate that it keeps to. Where others take it for something else the narrowest counts.
  func note(_ limit: RateLimit, for destination: Int) {
    guard let allowance = byName[limit.name] else { return }
    let former = limits[limit.name]?[destination]
    guard former != limit else { return }
    limits[limit.name, default: [:]][destination] = limit
    let isAlone = limits[limit.name]?.count == 1
    if isAlone || limit.perSecond < allowance.limit.perSecond {
      if limit != allowance.limit { allowance.change(to: limit) }
    } else if former == allowance.limit {
      takeNarrowest(allowance)
    }
  }

  /// Has a destination count no more for how wide its rates are, though it keeps to them: nobody sends there any more.
  func disregard(_ destination: Destination) {
    for allowance in destination.limits {
      let name = allowance.limit.name
      guard let former = limits[name]?.removeValue(forKey: destination.number) else { continue }
      if former == allowance.limit { takeNarrowest(allowance) }
    }
  }

  private func takeNarrowest(_ allowance: RateAllowance) {
    let known = limits[allowance.limit.name]?.values
    guard let narrowest = known?.min(by: { $0.perSecond < $1.perSecond }),
      narrowest != allowance.limit
    else { return }
    allowance.change(to: narrowest)
  }

  /// A destination keeps to its rates no more. Those that none keeps to are forgotten.
  func leave(_ destination: Destination) {
    disregard(destination)
    for allowance in destination.limits {
      let name = allowance.limit.name
      allowance.leave(destination.number)
      guard allowance.destinations.isEmpty, byName[name] === allowance else { continue }
      allowance.close()
      byName[name] = nil
      limits[name] = nil
      if byApp[destination.app] === allowance { byApp[destination.app] = nil }
    }
  }

  func close() {
    for allowance in byName.values { allowance.close() }
  }
}
