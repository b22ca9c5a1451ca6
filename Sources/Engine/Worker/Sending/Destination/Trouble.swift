/// Something that operators should look at, for as long as it stands.
struct Trouble {
  /// Its field among the alarms; see `Alarm.field`.
  let field: String
  let sentence: String
}
