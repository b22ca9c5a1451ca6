internal import Operations
internal import ProgramSetup
internal import Redis
internal import Store
internal import Typesetting

extension RedisSession {
  /// Notes what a person did. It is done already: where it cannot be noted, as with the rights of an older ACL, the command only
  /// warns, once.
  func note(_ acts: [Act], on console: Console) async {
    guard !acts.isEmpty else { return }
    let (who, nowMs) = (OperatorName.current, InstantText.nowMs())
    do throws(CommandFailure) {
      try await atHome { fleet throws(RedisError) in
        let journal = ActJournal(fleet: fleet)
        for act in acts {
          try await journal.note(act, by: who, from: "command line", nowMs: nowMs)
        }
      }
    } catch {
      console.note(
        "warning: this is done, and cannot be noted for pushpool audit: \(error.description)")
    }
  }
}
