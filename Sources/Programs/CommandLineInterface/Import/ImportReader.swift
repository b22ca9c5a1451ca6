internal import ProgramSetup

/// Gives the documents of an input one by one, in constant memory.
protocol ImportReader: AnyObject {
  /// Counted from 1: the document that `next` gave last.
  var lineNumber: Int { get }
  /// Where the next one begins.
  var offset: Int64 { get }

  /// Calls the body with the next document.
  /// - Returns: nil at the end of the input.
  func next<Value>(_ body: (LineReader.Line) -> Value) throws(CommandFailure) -> Value?
}
