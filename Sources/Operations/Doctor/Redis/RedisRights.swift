internal import Redis
internal import Store

/// Whether the user at hand may do what the configuration is for. Each command is one that changes nothing: it is about a key
/// that nobody writes, or a function that does not exist. Redis looks at the rights before all else.
struct RedisRights {
  let store: ShardStore
  /// The documented user whose rights are needed.
  let user: DocumentedUser

  /// A command, and whether the work goes on without the right to it.
  private struct Question {
    let words: [String]
    var isDispensable = false

    init(_ words: String..., isDispensable: Bool = false) {
      self.words = words
      self.isDispensable = isDispensable
    }
  }

  /// - Throws: when Redis is away, or answers nothing in time.
  func findings() async throws(RedisError) -> [DoctorFinding] {
    var needed: [String] = []
    var helpful: [String] = []
    for question in questions {
      guard let refusal = try await refusal(of: question), let right = refusal.missingRight else {
        continue
      }
      let name = right.rule ?? "\(refusal)"
      guard !needed.contains(name), !helpful.contains(name) else { continue }
      if question.isDispensable { helpful.append(name) } else { needed.append(name) }
    }
    let remedy =
      "use a user with the rights of \(user.rawValue) (docs/reference/redis.md, Redis users)"
    var findings: [DoctorFinding] = []
    if !needed.isEmpty {
      findings.append(
        DoctorFinding(
          .error, "redis",
          "this user lacks rights that the work needs: \(needed.joined(separator: ", "))",
          remedy: remedy))
    }
    if !helpful.isEmpty {
      findings.append(
        DoctorFinding(
          .warning, "redis",
          "this user lacks rights that help: \(helpful.joined(separator: ", "))", remedy: remedy))
    }
    guard findings.isEmpty else { return findings }
    return [
      DoctorFinding(
        .good, "redis", "this user may do what \(user.rawValue) may, as far as was tried")
    ]
  }

  private func refusal(of question: Question) async throws(RedisError) -> RedisError? {
    var command = RedisCommand()
    for word in question.words { command.append(word) }
    do throws(RedisError) {
      _ = try await store.connection.call(command)
      return nil
    } catch {
      // Any answer but a missing right says that the right is there.
      guard case .server = error else { throw error }
      return error
    }
  }

  private var questions: [Question] {
    let key = "\(store.keys.prefix):doctor:no-such-key"
    var questions = [
      Question("FCALL", "pushpool_doctor_no_such_function", "1", store.keys.prefix),
      Question("GET", key), Question("HGETALL", key), Question("XLEN", key),
      Question("ZCARD", key), Question("SCARD", key), Question("TYPE", key),
      Question("SET", key, "", "XX"), Question("HDEL", key, "none"), Question("DEL", key),
      Question("XADD", key, "NOMKSTREAM", "*", "none", ""), Question("ZREM", key, "none"),
      Question("SREM", key, "none"), Question("PEXPIRE", key, "1"),
      Question("FUNCTION", "LIST", "LIBRARYNAME", "pushpool_doctor_no_such_library"),
      Question("FUNCTION", "LOAD", "none"), Question("TIME"),
      Question("INFO", "server", isDispensable: true),
    ]
    if user == .worker {
      questions.append(
        Question("FUNCTION", "DELETE", "pushpool_doctor_no_such_library", isDispensable: true))
    }
    return questions
  }
}
