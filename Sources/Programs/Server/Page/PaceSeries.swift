package import Model

/// How the counts of one job rose while it was looked at. The longer it goes on, the further its points lie apart.
package struct PaceSeries: Sendable, Equatable {
  package struct Point: Sendable, Equatable {
    package let atMs: Int64
    /// Installations that had ended by then, and those of them that were accepted.
    package let settled: Int
    package let accepted: Int

    package init(atMs: Int64, settled: Int, accepted: Int) {
      self.atMs = atMs
      self.settled = settled
      self.accepted = accepted
    }
  }

  /// In the order of time; the last is the latest look.
  package private(set) var points: [Point] = []
  private var stepMs: Int64 = 1
  /// The looks of the last seconds, by which the pace of now is measured.
  private var recent: [Point] = []

  package init() {}

  package mutating func add(_ point: Point) {
    // Redis was emptied, or the clock set back: what was seen before is of another time.
    if let last = points.last, point.atMs < last.atMs || point.settled < last.settled {
      self = PaceSeries()
    }
    recent.append(point)
    while recent.count > 2, point.atMs - recent[1].atMs >= ServerLimits.paceWindowMs {
      recent.removeFirst()
    }
    if points.count >= 2, point.atMs - points[points.count - 2].atMs < stepMs {
      points[points.count - 1] = point
    } else {
      points.append(point)
    }
    guard points.count > ServerLimits.pacePointsMax else { return }
    // The first and the latest stay.
    points = points.enumerated()
      .filter { $0.offset.isMultiple(of: 2) || $0.offset == points.count - 1 }.map(\.element)
    let spanMs = point.atMs - points[0].atMs
    stepMs = max(stepMs, spanMs / Int64(ServerLimits.pacePointsMax / 2))
  }

  /// Installations that ended in a second, over the last seconds; nil before there are two looks.
  package var perSecond: Double? {
    guard let first = recent.first, let last = recent.last, last.atMs > first.atMs else {
      return nil
    }
    return Double(last.settled - first.settled) * 1_000 / Double(last.atMs - first.atMs)
  }

  package var json: JSONValue {
    .object([
      "points": .array(
        points.map { point in
          .object([
            "at": .integer(point.atMs), "settled": .integer(point.settled),
            "accepted": .integer(point.accepted),
          ])
        })
    ])
  }
}
