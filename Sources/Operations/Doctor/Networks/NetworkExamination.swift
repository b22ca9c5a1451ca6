internal import HTTPClient
internal import Model
internal import Providers
internal import Reactor

/// One account at one push network: whether the network can be reached, and takes the credential. It asks for something that
/// is delivered to nobody.
struct NetworkExamination: Sendable {
  private let entry: ProviderDirectory.Entry
  private let authorities: AccountAuthorities
  private let client: HTTPClient
  private let clock: WallClock
  private let loop: EventLoop
  private let answerMs: UInt64

  /// - Parameter answerMs: how long the network has for its answer, and to be reached.
  init(
    _ entry: ProviderDirectory.Entry, authorities: AccountAuthorities, client: HTTPClient,
    clock: WallClock, loop: EventLoop, answerMs: UInt64
  ) {
    self.entry = entry
    self.authorities = authorities
    self.client = client
    self.clock = clock
    self.loop = loop
    self.answerMs = answerMs
  }

  /// The name of an account for people: `shop apns production`, `shop fcm`.
  static func subject(_ entry: ProviderDirectory.Entry) -> String {
    let name = "\(entry.app) \(entry.provider.network.rawValue)"
    guard entry.provider.network.traits.hasAccountPerEnvironment,
      let environment = entry.environments.first
    else { return name }
    return "\(name) \(environment.rawValue)"
  }

  func findings() async -> [DoctorFinding] {
    let verdict = NetworkVerdict(subject: Self.subject(entry), provider: entry.provider)
    let credential: Credential
    do throws(CredentialError) {
      credential = try await entry.provider.credentials.current()
    } catch {
      let way = await NetworkProbe.outcome(
        of: nil, to: entry.provider, on: loop, withinMs: answerMs)
      return [verdict.ofMissingCredential(error.reason), verdict.finding(way)]
    }
    let request: NetworkProbe.Request
    do throws(InvalidField) {
      request = try self.request(credential)
    } catch {
      return [DoctorFinding(.error, Self.subject(entry), "no request can be made: \(error)")]
    }
    let destination = entry.provider.destination
    guard !destination.acceptsHTTP1 else {
      return [
        verdict.finding(
          await NetworkProbe.outcome(
            of: request, to: destination, trusting: authorities, by: client, withinMs: answerMs))
      ]
    }
    return [
      verdict.finding(
        await NetworkProbe.outcome(
          of: request, to: entry.provider, on: loop, withinMs: answerMs))
    ]
  }

  /// A push that only the app would see, to a device that cannot exist; of a network that can check a request, such a check.
  private func request(_ credential: Credential) throws(InvalidField) -> NetworkProbe.Request {
    var notification = Notification()
    notification.data = [Notification.DataEntry(name: "pushpool", value: "doctor")]
    let content = JobContent(
      notification: notification, expiry: .ttl(seconds: 0), dryRun: true)
    let nowMs = clock.nowMs()
    let rendered = try entry.provider.render(content, createdAtMs: nowMs, nowMs: nowMs)
    let token = entry.provider.network.traits.absentToken
    var headers = rendered.headers.map { (name: $0.name, value: $0.value) }
    if let header = credential.header { headers.append((name: "authorization", value: header)) }
    return NetworkProbe.Request(
      headers: headers, path: rendered.path(to: token),
      body: rendered.body(to: [token], id: Self.newID(), isFID: false))
  }

  /// A UUID (RFC 9562, 5.4): another one for each request, which a network may know again by it.
  private static func newID() -> String {
    func digits(_ count: Int) -> String {
      (0..<count).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }
    return "\(digits(8))-\(digits(4))-4\(digits(3))-8\(digits(3))-\(digits(12))"
  }
}
