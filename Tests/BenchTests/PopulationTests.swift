import Bench
import Model
import Testing

@Suite struct PopulationTests {
  @Test("device tokens are valid, distinct and always the same", arguments: [Network.apns, .fcm])
  func tokens(network: Network) throws {
    let population = Population(network: network, count: 10_000)
    var seen: Set<DeviceToken> = []
    for number in 0..<population.count {
      let installation = try population.installation(number)
      #expect(installation.user == population.user(number))
      seen.insert(installation.token)
    }
    #expect(seen.count == population.count)
    #expect(population.tokenText(7) == Population(network: network, count: 1).tokenText(7))
  }

  @Test("a job is valid and names its users in order")
  func job() throws {
    let population = Population(network: .apns, count: 10)
    let job = try Job(bytes: population.job(id: "j1", users: 3..<6))
    #expect(job.id == "j1")
    #expect(job.audience == .users((3..<6).map { population.user($0) }))
  }
}
