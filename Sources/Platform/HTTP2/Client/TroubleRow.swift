/// Trouble in a row on one connection of several, since something was good on it. It tells a connection that is bad, as with one
/// server of many behind a balancer, from trouble of all: while this one has nothing but trouble the others have none. A server
/// that fails has answered before the others, so that it would get the most of the work. Times are the loop's.
struct TroubleRow {
  /// How much of it there was; 0 when the last that was heard of the connection is good. Looked at for each answer.
  private(set) var weight = 0
  /// Requests of it.
  private(set) var requests = 0
  /// When the connection is tried again while others are well.
  private(set) var dueNs: UInt64 = 0
  private(set) var sinceNs: UInt64 = 0
  private var pauses: UInt64 = 0
  /// The good answers and the rows of all connections at its beginning.
  private var goods = 0
  private var rows = 0

  /// The row of a connection that takes the place of one with trouble: it has yet to show that it is better.
  static func probation(nowNs: UInt64, goods: Int, rows: Int) -> TroubleRow {
    var row = TroubleRow()
    row.begin(nowNs: nowNs, goods: goods, rows: rows)
    row.weight = 1
    return row
  }

  /// - Parameters:
  ///   - goods: the good answers of all connections.
  ///   - rows: the rows of all connections, with this one.
  private mutating func begin(nowNs: UInt64, goods: Int, rows: Int) {
    (sinceNs, dueNs) = (nowNs, nowNs)
    (self.goods, self.rows) = (goods, rows)
  }

  /// Notes trouble.
  /// - Parameters:
  ///   - sentNs: when its request was submitted. One that was sent after the row began is new evidence.
  ///   - isAlone: whether other connections are well.
  ///   - goods: the good answers of all connections.
  ///   - rows: the rows of all connections, with this one.
  mutating func note(
    _ sign: ConnectionSign, sentNs: UInt64, isAlone: Bool, nowNs: UInt64, goods: Int, rows: Int
  ) {
    let isFirst = weight == 0
    if isFirst { begin(nowNs: nowNs, goods: goods, rows: rows) }
    let isNew = !isFirst && sentNs >= sinceNs
    weight &+= isNew ? sign.rawValue * 2 : sign.rawValue
    requests &+= 1
    guard isFirst || isNew else { return }
    let pauseNs = min(
      HTTP2Limits.troublePauseNsMin << min(pauses, 16), HTTP2Limits.troublePauseNsMax)
    // While all have trouble, each is tried soon, so that the end of it is known.
    if isAlone { pauses += 1 }
    dueNs = nowNs &+ pauseNs
  }

  /// Whether the connection is bad and the others are not.
  func isOutlier(goods: Int, rows: Int) -> Bool {
    guard weight >= HTTP2Limits.outlierWeightMin else { return false }
    let othersGood = goods - self.goods
    return othersGood >= HTTP2Limits.othersGoodMin
      && othersGood >= (rows - self.rows) * HTTP2Limits.othersGoodPerRow
  }
}
