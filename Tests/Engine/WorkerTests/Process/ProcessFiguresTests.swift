import HTTP2
import Model
import Reactor
import Store
import Testing

@testable import Worker

@Suite struct ProcessFiguresTests {
  @Test("the system says what the process takes")
  func told() {
    var figures = WorkerFigures()
    ProcessFigures.add(to: &figures)
    #expect(figures.cpuMs > 0 && ProcessMemory.residentBytes > 1_000_000)
    // Those of a terminal, or what stands in their place.
    #expect(figures.openFiles >= 3 && figures.openFiles < figures.openFilesMax)
    let before = figures.cpuMs
    while ProcessFigures.cpuMs() == before {}
    #expect(ProcessFigures.cpuMs() > before)
  }

  @Test("however much there is to tell, a beat grows by a few kilobytes at most")
  func isBounded() {
    func full(_ boundsUs: [UInt64]) -> DurationHistogram {
      let most = "999999999999999"
      let words = boundsUs.map { "\($0):\(most)" } + ["+:\(most)", "sum:\(most)"]
      return DurationHistogram(text: words.joined(separator: " "))
        ?? DurationHistogram(boundsUs: boundsUs)
    }
    var figures = WorkerFigures()
    figures.cpuMs = .max
    figures.openFiles = .max
    figures.openFilesMax = .max
    let answers = full(LatencyHistogram.boundsMs.dropLast().map { $0 * 1_000 })
    #expect(answers.counts[0] > 0)
    for network in Network.allCases {
      var connections = WorkerFigures.Connections()
      connections.streamsUsed = .max
      connections.streamsAllowed = .max
      connections.count = .max
      connections.goAways = .max
      figures.connections[network] = connections
      figures.answers[network] = answers
    }
    figures.redis = full([UInt64](1...14).map { $0 * 1_000_000 })
    figures.lag = full(WorkerLimits.lagBoundsUs)
    let bytes = figures.fields.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }
    #expect(bytes > 1_000 && bytes <= WorkerLimits.figuresBytesMax)
  }

  @Test("a destination tells of its connections, and of those that its network ended by GOAWAY")
  func connections() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    #expect(stage.sending.destinations.figures == [:])
    let run = try stage.run()
    stage.enqueue(run)
    let destination = stage.destination
    destination.transport(TestTransport(), connectionEnded: .goAway(errorCode: 0, debugData: ""))
    destination.transport(TestTransport(), connectionEnded: .closedByPeer)
    destination.transport(TestTransport(), connectionEnded: .closed)
    destination.transport(TestTransport(), connectionEnded: .goAway(errorCode: 2, debugData: "x"))
    let figures = try #require(stage.sending.destinations.figures[.apns])
    // Its own have not been opened.
    #expect(figures.goAways == 2 && figures.count == 0 && figures.streamsAllowed == 0)
  }
}
