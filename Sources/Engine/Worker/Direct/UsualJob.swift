/// The usual size of the small jobs that a lane took in lately. By it the lane asks for as many as it has room for.
struct UsualJob {
  /// How much one more changes it.
  private static let weight = 1.0 / 16
  /// At first it asks for few.
  private var users = Double(WorkerLimits.directUsersMax)
  private var pushesOfUser = 1.0

  /// To how many pushes such a job comes.
  var pushes: Double { users * pushesOfUser }

  /// A job is to so many users.
  mutating func note(users count: Int) {
    users += (Double(max(1, count)) - users) * Self.weight
  }

  /// Notes that so many users have come to so many pushes. One without any costs as much as one with a push.
  mutating func note(users count: Int, pushes: Int) {
    let ofUser = max(1, Double(pushes) / Double(max(1, count)))
    pushesOfUser += (ofUser - pushesOfUser) * Self.weight
  }
}
