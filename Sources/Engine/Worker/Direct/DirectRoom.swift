internal import Model

/// How much a lane may be given of jobs that it sends from their entries; less with each that it takes.
struct DirectRoom {
  /// How many more jobs it may be given.
  private(set) var jobs: Int
  /// How many users and pushes wait to be sent, no later than pushes of each priority.
  private var waiting: [Int]
  /// How much may wait when another job adds its own.
  let backlogMax: Int
  /// Whether what waits is not soon less.
  let isSlow: Bool
  /// The jobs and chunks that the lane has in hand, by app, for the apps that were asked for.
  private var ofApps: [String: Int] = [:]

  init(jobs: Int, waiting: [Int], backlogMax: Int, isSlow: Bool) {
    self.jobs = jobs
    self.waiting = waiting
    self.backlogMax = backlogMax
    self.isSlow = isSlow
  }

  func waiting(upTo priority: Priority) -> Int { waiting[priority.rank] }

  /// Returns how many jobs and chunks the lane has in hand of an app, with those that were taken of it.
  /// - Parameter counted: counts it; called once for an app.
  mutating func jobs(of app: String, counted: () -> Int) -> Int {
    if let count = ofApps[app] { return count }
    let count = counted()
    ofApps[app] = count
    return count
  }

  /// Takes an app's job to so many users, unless there is no room. Where much leaves, there soon is.
  mutating func take(users: Int, _ priority: Priority, app: String) -> Bool {
    guard jobs > 0, !isSlow || waiting[priority.rank] < backlogMax else { return false }
    jobs -= 1
    ofApps[app]? += 1
    for rank in priority.rank..<waiting.count { waiting[rank] += users }
    return true
  }
}
