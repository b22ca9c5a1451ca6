import LocalServices
import Model
import Redis
import Store

/// Row 7: devices are installed and uninstalled while networks' verdicts about them come in, early and late.
///
/// Each round does three things to one token at the same time, each over a connection of its own, and asks
/// whether any order of them explains the answers and what stands in Redis then.
struct BindingRow: MatrixRow {
  let number = 7
  let fault = "install, uninstall, 410 interleaved"

  private static let operations = 1_000_000
  /// Rounds that are under way at a time, each with tokens of its own and users that all share.
  private static let devices = 64
  private static let tokensPerDevice = 3
  private static let users = (0..<40).map { "u\($0)" }
  private static let connections = 3
  /// How many bindings that were read before a device remembers, to give a verdict about one.
  private static let readingsMax = 8
  /// How often one of the devices looks at all lists.
  private static let roundsPerLook = 500
  private static let app = ChaosStage.app
  /// The functions; a test puts faults into them.
  var library = StoreLibrary.library

  func run(_ trial: Trial) async throws -> RowResult {
    try await RedisServer.with(RedisServer.Options()) { server in
      var sessions: [ChaosSession] = []
      for _ in 0..<Self.connections {
        sessions.append(try await ChaosSession.open(url: server.url, library: library))
      }
      let result: Swift.Result<RowResult, any Error>
      do { result = .success(try await run(trial, sessions)) } catch { result = .failure(error) }
      for session in sessions { await session.close() }
      return try result.get()
    }
  }

  private func run(_ trial: Trial, _ sessions: [ChaosSession]) async throws -> RowResult {
    let rounds = trial.scaled(
      Self.operations / Self.connections / Self.devices, atLeast: Self.devices)
    var dice = trial.dice(.faults)
    let seeds = (0..<Self.devices).map { _ in dice.next() }
    let first = ContinuousClock.now
    var tally = try await withThrowingTaskGroup(of: BindingTally.self) { group in
      for (number, seed) in seeds.enumerated() {
        group.addTask {
          try await Self.play(number, rounds: rounds, SeededDice(seed: seed), sessions, trial)
        }
      }
      return try await group.reduce(into: BindingTally()) { $0.add($1) }
    }
    let seconds = (ContinuousClock.now - first) / .seconds(1)
    try await Self.look(sessions[0], &tally, isAtRest: true)
    var result = RowResult(number, fault)
    result.runs = tally.operations
    result.phantoms = tally.misdirected
    result.note(
      "\(tally.operations) operations in \(tenths(seconds)) s: \(tally.removed) verdicts removed what they "
        + "were about, \(tally.stale) came too late and removed nothing")
    result.expect(
      tally.removed > 0 && tally.stale > 0, "the verdicts were all in time, or all late")
    result.expect(
      tally.freshRemoved == 0,
      "\(tally.freshRemoved) bindings were removed that were newer than the verdict")
    result.expect(
      tally.unexplained == 0,
      "\(tally.unexplained) rounds are explained by no order of what was done")
    result.expect(
      tally.misdirected == 0, "\(tally.misdirected) lines of users' lists name another's token")
    for example in tally.examples { result.note(example) }
    return result
  }

  /// One device's rounds, one after another.
  private static func play(
    _ device: Int, rounds: Int, _ seeded: SeededDice, _ sessions: [ChaosSession], _ trial: Trial
  ) async throws -> BindingTally {
    var dice = seeded
    var tally = BindingTally()
    let tokens = (0..<tokensPerDevice).map { Self.token(device, $0) }
    var models = tokens.map { _ in BindingModel() }
    var readings: [[BindingModel.Binding]] = tokens.map { _ in [] }
    for round in 0..<rounds {
      let index = dice.below(tokens.count)
      let token = tokens[index]
      let operations = (0..<sessions.count).map { _ in operation(&dice, readings[index]) }
      let shift = dice.below(sessions.count)
      let answers = try await withThrowingTaskGroup(of: (Int, BindingModel.Answer).self) { group in
        for (number, operation) in operations.enumerated() {
          let session = sessions[(number + shift) % sessions.count]
          group.addTask {
            (number, try await session.perform(operation, app: app, token: token))
          }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      let end = try await sessions[shift].binding(app: app, token: token)
      judge(models[index], operations, operations.indices.map { answers[$0]! }, end, &tally)
      models[index].binding = end
      if let end {
        readings[index].append(end)
        if readings[index].count > readingsMax { readings[index].removeFirst() }
      }
      if device == 0, round % roundsPerLook == 0 {
        trial.say("round \(round) of \(rounds) of each of \(devices) devices")
        try await look(sessions[shift], &tally)
      }
    }
    return tally
  }

  private static func token(_ device: Int, _ number: Int) -> DeviceToken {
    number == 0
      ? DeviceToken(stored: "fcm:device-\(device)", network: .fcm)
      : DeviceToken(
        stored: Crowd(app: app, count: 0).tokenText(device * 10 + number), network: .apns)
  }

  private static func operation(
    _ dice: inout SeededDice, _ readings: [BindingModel.Binding]
  ) -> BindingModel.Operation {
    let kind = dice.below(10)
    if kind < 4 { return .install(user: users[dice.below(users.count)]) }
    if kind < 6 {
      return .uninstall(owner: dice.chance(percent: 50) ? readings.last?.user : nil)
    }
    // Mostly about the latest, else about one of long ago.
    let isLatest = dice.chance(percent: 60)
    guard let read = isLatest ? readings.last : dice.pick(readings),
      let generation = read.generation
    else { return .uninstall(owner: users[dice.below(users.count)]) }
    let sinceMs: Int64? =
      switch dice.below(3) {
      case 0: nil
      case 1: read.updatedAtMs - 1
      default: read.updatedAtMs
      }
    return .invalidate(
      BindingModel.Verdict(user: read.user, generation: generation, sinceMs: sinceMs))
  }

  private static func judge(
    _ before: BindingModel, _ operations: [BindingModel.Operation],
    _ answers: [BindingModel.Answer], _ end: BindingModel.Binding?, _ tally: inout BindingTally
  ) {
    tally.operations += operations.count
    for (operation, answer) in zip(operations, answers) {
      guard case .invalidate(let verdict) = operation else { continue }
      switch answer {
      case .removal(.removed):
        tally.removed += 1
        // A round's verdicts are about what was read before it, so nothing newer was theirs to remove.
        if before.binding?.generation != verdict.generation { tally.freshRemoved += 1 }
      case .removal(.stale): tally.stale += 1
      default: break
      }
    }
    guard !before.explains(operations, answers, end: end) else { return }
    tally.unexplained += 1
    tally.note(
      "\(before.binding.map { "\($0)" } ?? "nobody's"): \(operations) brought \(answers) and "
        + "\(end.map { "\($0)" } ?? "nobody's")")
  }

  /// Compares all users' lists with the tokens' records, in one call, so that both are of one moment.
  /// - Parameter isAtRest: whether every token that is somebody's is to be in a list.
  private static func look(
    _ session: ChaosSession, _ tally: inout BindingTally, isAtRest: Bool = false
  ) async throws {
    let reply = try await session.command(
      ["EVAL", lookScript, "0", app] + users.map { $0 })
    guard let numbers = reply.array?.compactMap(\.integer), numbers.count == 2 else {
      throw ChaosError("the lists could not be looked at: \(reply)")
    }
    tally.misdirected += numbers[0]
    if numbers[0] > 0 { tally.note("\(numbers[0]) lines of users' lists name another's token") }
    guard isAtRest else { return }
    var bound = 0
    for device in 0..<devices {
      for number in 0..<tokensPerDevice
      where try await session.binding(app: app, token: token(device, number)) != nil { bound += 1 }
    }
    if bound != numbers[1] {
      tally.unexplained += 1
      tally.note("\(bound) tokens are somebody's, users' lists have \(numbers[1])")
    }
  }

  /// Lines that are not what the token's record says or that name it again, and lines in all.
  private static let lookScript = """
    local seen, wrong, lines = {}, 0, 0
    for i = 2, #ARGV do
      local list = redis.call('GET', 'pushpool:user:' .. ARGV[1] .. ':' .. ARGV[i]) or ''
      for line in string.gmatch(list, '[^\\n]+') do
        local network, generation, token = string.match(line, '^([^\\t]*)\\t[^\\t]*\\t([^\\t]*)\\t[^\\t]*\\t(.*)$')
        local key = 'pushpool:token:' .. network .. ':' .. ARGV[1] .. ':' .. token
        local r = redis.call('HMGET', key, 'user', 'generation')
        if seen[key] or r[1] ~= ARGV[i] or r[2] ~= generation then wrong = wrong + 1 end
        seen[key] = true
        lines = lines + 1
      end
    end
    return {wrong, lines}
    """
}
