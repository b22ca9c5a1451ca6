internal import Model
internal import Store

// What is recorded of its pushes.
extension PushRun {
  /// Whether an accept of this push is recorded.
  func isNoteworthy(_ index: Int) -> Bool { trace.isNoteworthy(pushes[index]) }

  /// Takes this answer for the cause of all that follows for the push, until `endAnswer`.
  func beginAnswer(_ answer: TracedAnswer) { trace.beginAnswer(answer) }

  /// An answer that nothing followed from is recorded by itself.
  func endAnswer(_ index: Int) { trace.endAnswer(pushes[index]) }

  /// The request was handed to a connection.
  func noteSent(_ index: Int) { trace.noteSent(pushes[index]) }

  /// Records what follows for a push, with the answer that it follows from.
  func note(_ index: Int, _ decision: TraceDecision) { trace.note(pushes[index], decision) }

  /// Records that a recipient has no push.
  func noteRecipient(_ index: Int, because cause: TraceCause) {
    trace.noteRecipient(lines[index], lines(of: index), because: cause)
  }

  /// Begins to tell its last, behind what was recorded of it.
  func finishTrace() { trace.finish() }
}
