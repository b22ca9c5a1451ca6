import Testing

@testable import Worker

@Suite struct UsualJobTests {
  @Test("jobs are taken to be large at first, and then as they were")
  func learns() {
    var usual = UsualJob()
    #expect(usual.pushes == Double(WorkerLimits.directUsersMax))
    for _ in 0..<200 { usual.note(users: 1) }
    #expect((1..<1.1).contains(usual.pushes))
    for _ in 0..<2_000 { usual.note(users: 0) }
    #expect(usual.pushes >= 1)
  }

  @Test("users with several devices make more of a job, and those without any do not make less")
  func countsDevices() {
    var usual = UsualJob()
    for _ in 0..<200 {
      usual.note(users: 10)
      usual.note(users: 10, pushes: 50)
    }
    #expect((49.9..<51).contains(usual.pushes))
    for _ in 0..<200 { usual.note(users: 10, pushes: 0) }
    #expect((9.9..<10.1).contains(usual.pushes))
  }
}
