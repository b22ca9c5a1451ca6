internal import ProgramSetup

/// Reads the objects of an export one by one, in constant memory. An export is `{"results": [ … ]}`, perhaps with a count or
/// the class's name before the array, an array, or objects one behind the other. Several of these may follow each other, as when pages were joined to one file.
final class ElementReader: ImportReader {
  private enum Place {
    /// Between the texts of the file.
    case top
    case array
    /// In the array of `{"results": […]}`.
    case results
    /// Behind that array, before the end of its object.
    case behindResults
  }

  /// `{"results": [` with its blanks must fit.
  private static let openingBytesMax = 256

  private let name: String
  private let elementBytesMax: Int
  private let window: InputWindow
  private var place = Place.top
  private var needsComma = false
  private(set) var lineNumber = 0
  private(set) var offset: Int64 = 0

  /// - Parameters:
  ///   - name: for messages.
  ///   - readBytesMax: the most that one read takes.
  init(
    descriptor: CInt, name: String, elementBytesMax: Int,
    readBytesMax: Int = CommandLineLimits.readBytes
  ) {
    self.name = name
    self.elementBytesMax = elementBytesMax
    window = InputWindow(
      descriptor: descriptor, name: name,
      capacity: max(CommandLineLimits.readBytes, elementBytesMax * 2), readBytesMax: readBytesMax)
  }

  /// Calls the body with the next element.
  /// - Returns: nil at the end of the file.
  /// - Throws: also when brackets do not match: nothing behind such a place can be told apart.
  func next<Value>(_ body: (LineReader.Line) -> Value) throws(CommandFailure) -> Value? {
    while let byte = try significantByte() {
      switch (place, byte) {
      case (.top, UInt8(ascii: "[")):
        use(1)
        enter(.array)
      case (.top, UInt8(ascii: "{")):
        guard let opening = try resultsOpening() else { return try element(body) }
        use(opening)
        enter(.results)
      case (.top, _): throw foreign()
      case (.array, UInt8(ascii: "]")):
        use(1)
        place = .top
      case (.results, UInt8(ascii: "]")):
        use(1)
        place = .behindResults
      case (.array, _), (.results, _):
        guard needsComma else {
          needsComma = true
          return try element(body)
        }
        guard byte == UInt8(ascii: ",") else { throw broken("a comma is missing") }
        use(1)
        needsComma = false
      case (.behindResults, _):
        var rest = ElementScanner.insideObject()
        use(try scan(&rest, bytesMax: 0).length)
        place = .top
      }
    }
    guard place == .top else { throw truncated() }
    return nil
  }

  private func enter(_ place: Place) {
    self.place = place
    needsComma = false
  }

  private func use(_ count: Int) {
    offset += Int64(count)
    window.drop(count)
  }

  /// The next byte that is no blank; nil at the end. It stays in the window.
  private func significantByte() throws(CommandFailure) -> UInt8? {
    while try ensure(1) {
      let bytes = window.bytes
      if let index = bytes.firstIndex(where: { !Self.isBlank($0) }) {
        let byte = bytes[index]
        use(index)
        // Several texts may have been joined to one file.
        guard byte == ByteOrderMark.utf8[0], place == .top else { return byte }
        guard try ensure(ByteOrderMark.utf8.count), window.bytes.starts(with: ByteOrderMark.utf8)
        else { return byte }
        use(ByteOrderMark.utf8.count)
      } else {
        use(bytes.count)
      }
    }
    return nil
  }

  /// - Returns: false when the input ends before there are so many bytes.
  private func ensure(_ count: Int) throws(CommandFailure) -> Bool {
    while window.count < count, !window.hasEnded { try window.fill() }
    return window.count >= count
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// How many bytes `{"results": [` takes, with what may stand before the array; nil when something else stands here.
  private func resultsOpening() throws(CommandFailure) -> Int? {
    _ = try ensure(Self.openingBytesMax)
    var rest = window.bytes.prefix(Self.openingBytesMax)
    guard Self.take("{", &rest) else { return nil }
    while let name = Self.takeWord(&rest), Self.take(":", &rest) {
      if name == "\"results\"" { return Self.take("[", &rest) ? rest.startIndex : nil }
      // An installation may have a field of its own that is called results.
      guard Self.namesBeforeResults.contains(name), Self.takeWord(&rest) != nil,
        Self.take(",", &rest)
      else { return nil }
    }
    return nil
  }

  private static let namesBeforeResults = ["\"count\"", "\"className\""]

  private static func take(_ mark: String, _ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Bool
  {
    rest = rest.drop(while: isBlank)
    guard rest.starts(with: mark.utf8) else { return false }
    rest = rest.dropFirst(mark.utf8.count)
    return true
  }

  /// A name or a value up to the next mark; nil when there is none.
  private static func takeWord(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> String? {
    rest = rest.drop(while: isBlank)
    let word = rest.prefix { !isBlank($0) && !":,{}[]".utf8.contains($0) }
    rest = rest.dropFirst(word.count)
    return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
  }

  private func element<Value>(
    _ body: (LineReader.Line) -> Value
  ) throws(CommandFailure) -> Value {
    lineNumber += 1
    var scanner = ElementScanner()
    let (length, isTooLong) = try scan(&scanner, bytesMax: elementBytesMax)
    let element = UnsafeBufferPointer(rebasing: window.bytes[..<length])
    use(length)
    return body(isTooLong || length > elementBytesMax ? .tooLong : .text(element))
  }

  /// - Returns: how much of the window the value takes. What was longer than the limit is dropped already.
  private func scan(
    _ scanner: inout ElementScanner, bytesMax: Int
  ) throws(CommandFailure) -> (length: Int, isTooLong: Bool) {
    var scanned = 0
    var isTooLong = false
    while true {
      switch scanner.scan(window.bytes[scanned...]) {
      case .ended(let count): return (scanned + count, isTooLong)
      case .broken(let count):
        use(scanned + count)
        throw broken("a bracket or a comma is wrong")
      case .open: scanned = window.count
      }
      guard !window.hasEnded else { throw truncated() }
      if scanned > bytesMax {
        use(scanned)
        scanned = 0
        isTooLong = true
      }
      try window.fill()
    }
  }

  private func broken(_ problem: String) -> CommandFailure {
    CommandFailure(
      .badInput,
      "\(InputFile.shown(name)) is not valid JSON: \(problem) at byte \(offset), near "
        + "installation \(max(1, lineNumber))")
  }

  /// Returns the failure for JSON that no export begins with.
  private func foreign() -> CommandFailure {
    let failure = broken("neither an object nor an array stands")
    let line = window.bytes.prefix { $0 != UInt8(ascii: "\n") }
    let what: String
    switch offset == 0 ? FileShape(firstLine: line) : nil {
    case .csv: what = "; the file looks like CSV, and an export as JSON is expected"
    case .gzip: what = "; the file is compressed: unpack it first (gunzip)"
    case .utf16: what = "; the file is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"
    case .array, .longObject, .results, .other, nil: what = ""
    }
    return CommandFailure(.badInput, "\(failure)\(what)")
  }

  private func truncated() -> CommandFailure {
    CommandFailure(
      .badInput,
      "\(InputFile.shown(name)) ends too early: a bracket is still open, so a part of it is missing"
    )
  }
}
