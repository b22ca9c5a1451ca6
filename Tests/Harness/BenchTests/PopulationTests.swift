import Bench
import Model
import Testing

@Suite struct PopulationTests {
  @Test(
    "device tokens are valid, distinct and always the same",
    arguments: [[Network.apns], [.fcm], [.jpush], [.apns, .fcm]])
  func tokens(networks: [Network]) throws {
    let population = Population(networks: networks, users: 2_000, devicesPerUser: 5)
    #expect(population.installations == 10_000)
    var seen: Set<DeviceToken> = []
    for number in 0..<population.installations {
      let installation = try population.installation(number)
      #expect(installation.user == population.user(number / 5))
      #expect(installation.token.network == networks[number % networks.count])
      seen.insert(installation.token)
    }
    #expect(seen.count == population.installations)
    #expect(population.tokenText(7) == Population(networks: networks, users: 9).tokenText(7))
  }

  @Test("as many tokens as asked for are dead, and only those have the dead's prefix")
  func dead() {
    let population = Population(networks: [.apns], users: 1_000, deadPercent: 10)
    let dead = (0..<1_000).filter { population.tokenText($0).hasPrefix(Population.deadPrefix) }
    #expect(dead.count == 100)
    #expect(dead == (0..<1_000).filter { population.isDead($0) })
  }

  @Test("the last users' tokens are marked")
  func marked() {
    let population = Population(networks: [.apns], users: 20, markedFrom: 15)
    let marked = (0..<20).filter { population.tokenText($0).hasPrefix(Population.markPrefix) }
    #expect(marked == Array(15..<20))
  }

  @Test("a job is valid and names its users in order")
  func job() throws {
    let population = Population(networks: [.apns], users: 10)
    let job = try Job(bytes: Message().job(id: "j1", population: population, users: 3..<6))
    #expect(job.id == "j1")
    #expect(job.audience == .users((3..<6).map { population.user($0) }))
  }

  @Test("a filled message is as long as asked for", arguments: [300, 1_000, 4_000])
  func message(bytes: Int) {
    let excess = Message(payloadBytes: bytes).content.utf8.count - Message().content.utf8.count
    #expect(abs(300 + excess - bytes) < 20)
  }
}
