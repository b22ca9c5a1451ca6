/// A row of the fault matrix (docs/internals/reliability.md): brings its fault about under load and says what came of it.
protocol MatrixRow: Sendable {
  /// The number in the matrix.
  var number: Int { get }
  /// The fault, in a few words.
  var fault: String { get }

  func run(_ trial: Trial) async throws -> RowResult
}
