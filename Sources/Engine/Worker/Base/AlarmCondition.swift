/// Why an alarm is to stand, for as long as it holds: something that operators should look at.
struct AlarmCondition: Equatable {
  /// Its field among the alarms; see `AlarmKind.field`.
  let field: String
  let sentence: String
}
