internal import HTTP2
internal import Model
internal import Providers
internal import Store

/// Brings pushes from a destination's queue onto a connection, one a request or several; loop-bound.
final class Submitter {
  private let runs: RunTable
  private let room: SendingRoom
  private let router: PushRouter
  private let composer: PushComposer
  /// Requests of several pushes that are in flight.
  private(set) var batches = BatchTable()

  init(runs: RunTable, room: SendingRoom, router: PushRouter, composer: PushComposer) {
    self.runs = runs
    self.room = room
    self.router = router
    self.composer = composer
  }

  // MARK: One push

  func submit(
    _ raw: UInt64, to destination: Destination, with credential: Credential,
    in taker: any RequestTaker
  ) -> Submission {
    let tag = PushTag(raw)
    guard let run = runs[tag] else { return .withdrawn }
    guard let message = composer.message(run, tag.push, destination) else { return .withdrawn }
    let head = message.head(
      destination.heads, authority: destination.authority, credential: credential)
    let wasTaken = composer.withRequest(message, run, tag.push) { path, body in
      taker.submit(head, path: path, body: body, tag: raw)
    }
    guard let wasTaken else { return .withdrawn }
    guard wasTaken else {
      router.queue(run, tag.push, destination)
      return .blocked
    }
    run.noteSubmitted(tag.push)
    destination.noteSent(ofJob: run.claim.job)
    room.noteSent(1, to: destination)
    return .sent
  }

  // MARK: Several pushes

  func submit(
    batch tags: [UInt64], to destination: Destination, with credential: Credential,
    in taker: any RequestTaker
  ) -> BatchSubmission {
    var sendable: [UInt64] = []
    var tokens: [UnsafeRawBufferPointer] = []
    var first: (run: PushRun, push: Int, message: JobMessage)?
    for raw in tags {
      let tag = PushTag(raw)
      guard let run = runs[tag], let message = composer.message(run, tag.push, destination) else {
        continue
      }
      sendable.append(raw)
      tokens.append(run.pushes[tag.push].token)
      if first == nil { first = (run, tag.push, message) }
    }
    guard let (run, push, message) = first else { return .withdrawn }
    let environments = destination.entry.environments
    let id = BatchID.of(run.claim, environments: environments, tokens)
    let batch: Batch
    if let template = message.template {
      // All say the same, and one whose values are its own has come alone.
      guard composer.fill(template, run, push, tokens: tokens, id: id) else {
        // What hinders one hinders each.
        for tag in sendable.dropFirst().map(PushTag.init) {
          if let run = runs[tag] { _ = composer.fill(template, run, tag.push) }
        }
        return .withdrawn
      }
      batch = Batch(sendable, filled: composer.filled, message: message)
    } else {
      batch = Batch(sendable, tokens: tokens, id: id, message: message)
    }
    let tag = batches.add(batch)
    let head = message.head(
      destination.heads, authority: destination.authority, credential: credential)
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    guard taker.submit(head, path: none, body: batch.body, tag: tag.raw) else {
      _ = batches.remove(tag)
      return .blocked(sendable)
    }
    for tag in batch.tags.lazy.map(PushTag.init) { runs[tag]?.noteSubmitted(tag.push) }
    destination.noteSent(ofJob: run.claim.job)
    room.noteSent(batch.tags.count, to: destination)
    return .sent(sendable.count)
  }

  /// Takes out a request of several pushes, which has ended. - Returns: nil when it has ended before.
  func take(_ tag: BatchTag) -> Batch? { batches.remove(tag) }
}
