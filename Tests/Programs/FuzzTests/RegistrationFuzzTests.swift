import LocalServices
import Model
import Redis
import Store
import TestSupport
import Testing

/// The functions for registration are given whatever a stranger sends.
@Suite struct RegistrationFuzzTests {
  private static let functions = ["install", "create", "uninstall", "devices"]

  private static func verdict(_ document: [UInt8]) -> String? {
    do {
      _ = try Installation(bytes: document)
      return nil
    } catch { return error.description }
  }

  @Test("they take what an import takes, refuse the rest in its words, and never fail otherwise")
  func registration() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      defer { connection.close() }
      try await ShardStore(connection: connection, prefix: "pushpool").registration.provide()
      try await FuzzRun.each("registration") { random in
        let document = RandomJSON.document(RandomJSON.installations, &random)
        let function = random.pick(Self.functions)!
        var command = RedisCommand("FCALL", "pushpool_\(function)", "1", "pushpool")
        command.append(document)
        let shown = String(decoding: document, as: UTF8.self)
        var refusal: String?
        do throws(RedisError) {
          let reply = try await connection.call(command)
          guard (try? JSONParser().parse(reply.bytes ?? [])) != nil else {
            throw .unexpectedReply("\(reply)")
          }
        } catch {
          guard case .server("INVALID", let message) = error else {
            throw Broken(description: "\(function) of \(shown) ends with \(error)")
          }
          refusal = message
        }
        guard function == "install" || function == "create" else { return }
        let expected = Self.verdict(document)
        guard refusal == expected else {
          throw Broken(
            description: "\(shown): \(refusal ?? "taken") and not \(expected ?? "taken")")
        }
      }
    }
  }
}
