/// A row that is proven by tests, since its fault is below what a whole process shows.
struct ElsewhereRow: MatrixRow {
  let number: Int
  let fault: String
  /// The suite.
  let place: String

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    result.elsewhere = place
    return result
  }
}
