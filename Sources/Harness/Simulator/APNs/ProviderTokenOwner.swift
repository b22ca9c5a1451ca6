/// A team and one of its keys: who changes provider tokens, and which one counts at the moment.
final class ProviderTokenOwner {
  let teamID: String
  var currentSerial: Int?
  var currentSinceSeconds: Int64 = 0

  init(teamID: String) {
    self.teamID = teamID
  }
}
