import Glibc
import LocalServices
import Model

/// From the producer's XADD to the line in the simulator's accept log, one job of one user at a time.
struct Latency {
  let stage: Stage
  let population: Population

  /// - Returns: milliseconds, one for each job.
  func measure() async throws -> [Double] {
    let worker = try WorkerProcess(
      program: stage.programs.pushpool, configurationFile: stage.configurationFile)
    do {
      try await Campaign(stage: stage, name: "warm-up").run(
        population, users: population.count)
      var samples: [Double] = []
      for number in 0..<BenchLimits.latencyJobs {
        let pauseMs = UInt64.random(in: BenchLimits.latencyPauseMs)
        try await ContinuousClock().sleep(for: .milliseconds(pauseMs))
        samples.append(try await one(number))
      }
      await worker.stop()
      return samples
    } catch {
      await worker.stop()
      throw error
    }
  }

  private func one(_ number: Int) async throws -> Double {
    let user = number % population.count
    let job = population.job(id: "single-\(number)", users: user..<user + 1)
    let bytesBefore = try logBytes()
    let clock = ContinuousClock()
    let start = clock.now
    try await stage.session.enqueue(job)
    while try logBytes() == bytesBefore {
      guard clock.now - start < .milliseconds(BenchLimits.latencyMsMax) else {
        throw BenchError("a push took longer than \(BenchLimits.latencyMsMax / 1_000) s")
      }
      // Not a task's sleep, which wakes up to a millisecond late.
      usleep(BenchLimits.latencyPollMicroseconds)
    }
    return (clock.now - start) / .milliseconds(1)
  }

  private func logBytes() throws(BenchError) -> Int {
    var information = stat()
    guard stat(stage.acceptLogFile, &information) == 0 else {
      throw BenchError("the simulator's accept log is gone")
    }
    return Int(information.st_size)
  }
}
