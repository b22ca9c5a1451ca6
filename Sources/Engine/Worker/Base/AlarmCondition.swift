/// Why an alarm is to stand, for as long as it holds: something that operators should look at.
struct AlarmCondition: Equatable {
  /// The field among the alarms; see `AlarmKind.field`.
  let field: String
  let sentence: String
}
