internal import Reactor

/// The answers of the sentinels that are asked where a master is, and what follows from them; a value without input or
/// output.
///
/// The majority counts: one that is cut off together with an old master goes on naming that.
struct SentinelPoll {
  enum Answer: Equatable {
    case master(Endpoint)
    /// The sentinel watches no master of that name.
    case unknownName
    case failed(RedisError)
  }

  private let sentinels: [Endpoint]
  private let name: String
  /// By sentinel; nil while it has not answered.
  private var answers: [Answer?]

  init(sentinels: [Endpoint], name: String) {
    self.sentinels = sentinels
    self.name = name
    answers = Array(repeating: nil, count: sentinels.count)
  }

  /// Takes the answer of a sentinel, the first of each only.
  mutating func note(_ answer: Answer, of number: Int) {
    if answers[number] == nil { answers[number] = answer }
  }

  /// Waits for nobody any more.
  mutating func end() {
    for number in answers.indices where answers[number] == nil {
      answers[number] = .failed(.timeout)
    }
  }

  /// The conclusion; nil while the answers that are missing may change it.
  var finding: SentinelFinding? {
    let votes = votes
    if let first = votes.first, first.count * 2 > sentinels.count {
      return SentinelFinding(
        master: .success(first.master), remark: dissent(from: first.master), isOfMost: true)
    }
    guard !answers.contains(where: { $0 == nil }) else { return nil }
    guard let first = votes.first else {
      return SentinelFinding(master: .failure(silence), remark: nil)
    }
    guard first.count * 2 > votes.reduce(0, { $0 + $1.count }) else {
      return SentinelFinding(master: .failure(disagreement), remark: nil)
    }
    return SentinelFinding(master: .success(first.master), remark: dissent(from: first.master))
  }

  /// The masters that were named, the one named most often first.
  private var votes: [(master: Endpoint, count: Int)] {
    var votes: [(master: Endpoint, count: Int)] = []
    for case .master(let master)? in answers {
      if let index = votes.firstIndex(where: { $0.master == master }) {
        votes[index].count += 1
      } else {
        votes.append((master, 1))
      }
    }
    return votes.sorted { $0.count > $1.count }
  }

  /// Nobody names a master.
  private var silence: RedisError {
    guard let asked = answers.firstIndex(of: .unknownName) else {
      return .connectionLost(
        reason: "no sentinel says where the master \(name) is: \(sentences(nil))")
    }
    return .unsuitable(
      reason: "no sentinel knows a master with the name \(name): \(sentences(nil)). Correct the "
        + "name in redis.url; redis-cli \(Self.option(sentinels[asked])) SENTINEL MASTERS lists "
        + "those that there are")
  }

  private var disagreement: RedisError {
    .unsuitable(
      reason: "the sentinels disagree about the master \(name), and none has a majority: "
        + "\(sentences(nil)). They agree within seconds when they are failing over; if they do not, "
        + "redis.url names sentinels of different sets")
  }

  /// Says who names another master or none; nil when nobody does.
  private func dissent(from master: Endpoint) -> String? {
    let sentences = sentences(master)
    guard !sentences.isEmpty else { return nil }
    return "the master \(name) is at \(master), but not all sentinels say so: \(sentences)"
  }

  /// One for each sentinel that has answered otherwise.
  private func sentences(_ master: Endpoint?) -> String {
    zip(sentinels, answers).compactMap { sentinel, answer in
      switch answer {
      case .master(let other): other == master ? nil : "\(sentinel) names \(other)"
      case .unknownName: "\(sentinel) knows no such name"
      case .failed(let error): "\(sentinel) does not say (\(error.bareReason))"
      case nil: nil
      }
    }.joined(separator: "; ")
  }

  /// The options by which redis-cli finds it.
  private static func option(_ sentinel: Endpoint) -> String {
    switch sentinel {
    case .tcp(let host, let port): "-h \(host) -p \(port)"
    case .unix(let path): "-s \(path)"
    }
  }
}

/// The word of the sentinels.
struct SentinelFinding: Sendable, Equatable {
  let master: Result<Endpoint, RedisError>
  /// A sentence that an operator should know although the master was found; nil for nothing.
  let remark: String?
  /// Whether more than half of all sentinels name that master, and not only of those that answer.
  var isOfMost = false
}
