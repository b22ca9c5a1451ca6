@testable import Reactor
import Testing

@Suite("The resolver")
struct ResolverTests {
  @Test("looks a host up once, however many ask for it at the same time")
  func coalesces() async throws {
    let names = ScriptedNames(["a.test": ["127.0.0.1"]], silent: ["a.test"])
    let resolver = names.resolver(threadsMax: 4)
    let (answers, sink) = AsyncStream.makeStream(of: Resolver.Answer.self)
    for port in 1...5 {
      resolver.resolve(host: "a.test", port: UInt16(port)) { sink.yield($0) }
    }
    names.release("a.test")
    var found: Set<SocketAddress> = []
    for await answer in answers.prefix(5) { found.formUnion(try answer.get()) }
    #expect(names.asked == ["a.test"])
    // Each with the port that was asked for.
    #expect(found.count == 5)
  }

  @Test("answers for one host while another's name server is silent")
  func othersGoOn() async throws {
    let names = ScriptedNames(
      ["a.test": ["127.0.0.1"], "b.test": ["127.0.0.2", "::1"]], silent: ["a.test"])
    let resolver = names.resolver(threadsMax: 2)
    resolver.resolve(host: "a.test", port: 1) { _ in }
    let answer = await withCheckedContinuation { done in
      resolver.resolve(host: "b.test", port: 2) { done.resume(returning: $0) }
    }
    #expect(try answer.get().count == 2)
    names.release("a.test")
  }

  @Test("keeps half of its threads free of hosts whose last look-up failed")
  func troubledHosts() async throws {
    let troubled = ["a.test", "b.test", "c.test"]
    let names = ScriptedNames(["good.test": ["127.0.0.1"]], silent: Set(troubled))
    let resolver = names.resolver(threadsMax: 2)
    for host in troubled {
      names.release(host)
      _ = await withCheckedContinuation { done in
        resolver.resolve(host: host, port: 1) { done.resume(returning: $0) }
      }
    }
    for host in troubled { resolver.resolve(host: host, port: 1) { _ in } }
    let answer = await withCheckedContinuation { done in
      resolver.resolve(host: "good.test", port: 2) { done.resume(returning: $0) }
    }
    #expect(try answer.get().count == 1)
    #expect(names.asked.count == troubled.count + 2)
    for host in troubled { names.release(host) }
  }

  @Test("does not look up a host that nobody waits for any more")
  func forgets() async throws {
    let names = ScriptedNames(["c.test": ["127.0.0.1"]], silent: ["a.test"])
    let resolver = names.resolver(threadsMax: 1)
    resolver.resolve(host: "a.test", port: 1) { _ in }
    let ticket = resolver.resolve(host: "b.test", port: 1) { _ in
      Issue.record("an answer after it was cancelled")
    }
    resolver.cancel(try #require(ticket))
    names.release("a.test")
    let answer = await withCheckedContinuation { done in
      resolver.resolve(host: "c.test", port: 1) { done.resume(returning: $0) }
    }
    #expect(try answer.get().count == 1)
    #expect(names.asked == ["a.test", "c.test"])
  }

  @Test("answers at once for what is an address already", arguments: ["127.0.0.1", "::1"])
  func numeric(address: String) async {
    let names = ScriptedNames()
    let (answers, sink) = AsyncStream.makeStream(of: Resolver.Answer.self)
    let ticket = names.resolver(threadsMax: 1).resolve(host: address, port: 1) { sink.yield($0) }
    #expect(ticket == nil)
    sink.finish()
    var found: [Resolver.Answer] = []
    for await answer in answers { found.append(answer) }
    #expect(found.count == 1)
    #expect(names.asked.isEmpty)
  }
}
