import Reactor
import Testing

@testable import Redis

/// What follows from the answers of sentinels, without any.
@Suite struct SentinelPollTests {
  private static let sentinels = (1...3).map { Endpoint.tcp(host: "s\($0)", port: 26379) }
  private static let old = Endpoint.tcp(host: "old", port: 6379)
  private static let new = Endpoint.tcp(host: "new", port: 6379)
  private static let refused = SentinelPoll.Answer.failed(.connectionLost(reason: "refused"))

  private func poll(_ answers: [SentinelPoll.Answer]) -> SentinelPoll {
    var poll = SentinelPoll(sentinels: Self.sentinels, name: "m")
    for (number, answer) in answers.enumerated() { poll.note(answer, of: number) }
    return poll
  }

  private func reason(_ poll: SentinelPoll) -> String {
    if case .failure(let error)? = poll.finding?.master { error.bareReason } else { "" }
  }

  @Test("a majority is believed before all have answered")
  func majority() {
    #expect(poll([.master(Self.new)]).finding == nil)
    let finding = poll([.master(Self.new), .master(Self.new)]).finding
    #expect(finding == SentinelFinding(master: .success(Self.new), remark: nil, isOfMost: true))
  }

  @Test("one that is cut off with the old master is outvoted, and named")
  func outvoted() {
    let finding = poll([.master(Self.old), .master(Self.new), .master(Self.new)]).finding
    #expect(finding?.master == .success(Self.new))
    #expect(finding?.remark?.contains("s1:26379 names old:6379") == true)
  }

  @Test("the only one that answers is believed when the others are away or out of time")
  func onlyOne() {
    var poll = poll([Self.refused, .master(Self.new)])
    #expect(poll.finding == nil)
    poll.end()
    #expect(poll.finding?.master == .success(Self.new) && poll.finding?.isOfMost == false)
    #expect(poll.finding?.remark?.contains("s3:26379 does not say (no answer in time)") == true)
  }

  @Test("sentinels of which as many name one master as another are not believed")
  func disagreement() {
    let poll = poll([.master(Self.old), .master(Self.new), Self.refused])
    #expect(reason(poll).contains("disagree about the master m"), "\(reason(poll))")
    #expect(reason(poll).contains("s1:26379 names old:6379; s2:26379 names new:6379"))
  }

  @Test("a name that nobody knows is told with the command that lists those that there are")
  func unknownName() {
    let poll = poll([Self.refused, .unknownName, .unknownName])
    #expect(reason(poll).contains("no sentinel knows a master with the name m"))
    #expect(reason(poll).contains("redis-cli -h s2 -p 26379 SENTINEL MASTERS"))
    #expect(reason(poll).contains("s1:26379 does not say (refused)"))
  }

  @Test("one of another set is named while the others agree")
  func otherSet() {
    let finding = poll([.unknownName, .master(Self.new), .master(Self.new)]).finding
    #expect(finding?.master == .success(Self.new))
    #expect(finding?.remark?.contains("s1:26379 knows no such name") == true)
  }

  @Test("where none can be reached, the reason of each is told")
  func unreachable() {
    let poll = poll([Self.refused, Self.refused, .failed(.timeout)])
    #expect(reason(poll).contains("no sentinel says where the master m is"))
    #expect(reason(poll).contains("s3:26379 does not say (no answer in time)"))
  }

  @Test("the first answer of a sentinel counts")
  func firstAnswer() {
    var poll = poll([.master(Self.new), .master(Self.old)])
    poll.note(.master(Self.new), of: 1)
    poll.note(.master(Self.old), of: 2)
    #expect(poll.finding?.master == .success(Self.old))
  }
}
