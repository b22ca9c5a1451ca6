import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

@Suite struct WakeUpTests {
  /// Commands that Redis has run, those inside of functions included.
  private func commands(_ client: StageClient) async throws -> Int {
    let information = try await client.command("INFO", "commandstats").string ?? ""
    return information.split(separator: "calls=").dropFirst().reduce(0) { sum, part in
      sum + (Int(part.prefix { $0.isNumber }) ?? 0)
    }
  }

  /// What a job of one user costs Redis, beside a worker of so many lanes that have nothing else to do.
  private func commandsPerJob(lanes: Int) async throws -> Double {
    let worker = WorkerConfiguration(lanes: lanes, drainSeconds: 5, leaseSeconds: 60)
    return try await PushStage.with(worker: worker) { stage in
      try await stage.client.install([try Devices.apns(1)])
      return try await stage.withWorkers { _ in
        func deliver(_ numbers: Range<Int>) async throws {
          for number in numbers {
            _ = try await stage.client.enqueue(Devices.job("j\(number)", 1..<2))
            _ = try await eventually("job \(number) is accepted") {
              stage.simulator.counters.accepted > number ? true : nil
            }
          }
        }
        try await deliver(0..<5)
        let before = try await commands(stage.client)
        try await deliver(5..<65)
        return Double(try await commands(stage.client) - before) / 60
      }
    }
  }

  @Test("work wakes as many lanes as there is work for, not each that is idle")
  func wakesFew() async throws {
    let one = try await commandsPerJob(lanes: 1)
    let many = try await commandsPerJob(lanes: 24)
    print("a job of one user costs \(one) commands with one lane, \(many) with 24")
    #expect(many < 1.5 * one)
  }
}
