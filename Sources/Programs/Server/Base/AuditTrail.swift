internal import Logging
internal import Operations
internal import Redis
package import Store
internal import Typesetting

/// Notes what callers did, for `pushpool audit` and the page.
package struct AuditTrail: Sendable {
  private let log = Logger(label: "pushpool-server")

  package init() {}

  /// Notes an act that is done. While Redis is lost it is tried again for a moment, so that an act may be noted twice. Where
  /// it cannot be noted, only the log says so: whoever did it need not do it again.
  package func note(_ act: Act, by caller: Caller, in services: Services) async {
    let nowMs = InstantText.nowMs()
    do throws(StoreFailure) {
      try await services.session.atHome(with: { .server }) { fleet throws(RedisError) in
        try await ActJournal(fleet: fleet).note(
          act, by: caller.name, named: caller.keyName, from: caller.address, nowMs: nowMs)
      }
    } catch {
      log.warning(
        "an act is done and cannot be noted: \(error.description)",
        metadata: ["verb": "\(act.verb)", "app": "\(act.app)", "who": "\(caller.name)"])
    }
  }
}

extension Services {
  /// Notes an act that is done, as `AuditTrail.note`.
  package func noteAct(
    _ verb: String, app: String? = nil, subject: String = "", detail: String = "",
    by caller: Caller
  ) async {
    await AuditTrail().note(
      Act(verb, app: app, subject: subject, detail: detail), by: caller, in: self)
  }
}
