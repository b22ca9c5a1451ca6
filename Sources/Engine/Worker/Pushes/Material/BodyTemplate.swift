internal import HTTP2
internal import Model
internal import Providers

/// The body of a request in which texts are filled in for each push; made once for a job's network and language.
///
/// A class, since it is handed on with each push: a copy of what it holds would be counted piece by piece.
final class BodyTemplate {
  private enum Piece {
    case text(UnsafeRawBufferPointer)
    /// A value that is filled in, by number of the placeholder.
    case value(Int)
    /// The installation's badge, or `atMost` if that is smaller.
    case badge(atMost: Int?)
    case token
    /// The text before a token, and before one that is a `FirebaseInstallationID`.
    case tokenPrefix(UnsafeRawBufferPointer, fid: UnsafeRawBufferPointer)
    /// The request's id and what stands between it and the token.
    case requestID
  }

  private struct Limit {
    /// The bytes that are counted without the values. Badges count in their longest form: a body that is too long is
    /// known to be so before a badge is raised.
    let fixedBytes: Int
    let values: [Int]
    let bytesMax: Int
    let isJSON: Bool
  }

  /// Why a body cannot be made.
  enum Hindrance: Error {
    /// There is no value for the placeholder of this number.
    case missing(Int)
    case tooLarge
  }

  private var pieces: [Piece] = []
  /// The text between two tokens of a request that takes several.
  private var separator: [UInt8] = []
  private let arena = ByteArena()
  /// The text around the only value, where all else is the same for everybody: such a body need not be put together.
  private(set) var aroundOne:
    (before: UnsafeRawBufferPointer, number: Int, after: UnsafeRawBufferPointer)?
  private var limits: [Limit] = []

  /// Nil when nothing is filled in. Only of what is rendered of a content with marks (`MessageVariants.hasMarks`).
  init?(_ rendered: RenderedPush) {
    switch rendered.body {
    case .shared(let bytes): append(bytes)
    case .aroundToken(let prefix, let fidPrefix, let suffix):
      pieces.append(
        .tokenPrefix(
          prefix.withUnsafeBytes { [arena] in arena.copy($0) },
          fid: fidPrefix.withUnsafeBytes { [arena] in arena.copy($0) }))
      pieces.append(.token)
      append(suffix)
    case .aroundTokens(let opening, let afterID, let separator, let closing):
      self.separator = separator
      append(opening)
      pieces.append(.requestID)
      append(afterID)
      pieces.append(.token)
      append(closing)
    }
    guard
      pieces.contains(where: {
        switch $0 {
        case .value, .badge: true
        case .text, .token, .tokenPrefix, .requestID: false
        }
      })
    else { return nil }
    if pieces.count == 3, case .text(let before) = pieces[0], case .value(let number) = pieces[1],
      case .text(let after) = pieces[2]
    {
      aroundOne = (before, number, after)
    }
    limits = rendered.limits.map { limit in
      let (parts, rest) = Mark.cut(limit.text)
      var values: [Int] = []
      var fixedBytes = rest.count
      for part in parts {
        fixedBytes += part.before.count
        switch part.mark {
        case .value(let number): values.append(number)
        case .badge(let max): fixedBytes += Mark.badgeBytesMax(atMost: max)
        }
      }
      return Limit(
        fixedBytes: fixedBytes, values: values, bytesMax: limit.bytesMax, isJSON: limit.isJSON)
    }
  }

  private func append(_ bytes: [UInt8]) {
    let (parts, rest) = Mark.cut(bytes)
    for (before, mark) in parts {
      append(text: before)
      switch mark {
      case .value(let number): pieces.append(.value(number))
      case .badge(let max): pieces.append(.badge(atMost: max))
      }
    }
    append(text: rest)
  }

  private func append(text: ArraySlice<UInt8>) {
    guard !text.isEmpty else { return }
    pieces.append(.text(text.withUnsafeBytes { [arena] in arena.copy($0) }))
  }

  /// The body of one push, of parts that stay in place; only where there is an `aroundOne`.
  /// - Parameter values: by number of the placeholder; they stay in place, too.
  func join(
    with values: ArraySlice<UnsafeRawBufferPointer?>
  ) -> Result<RequestBody, Hindrance> {
    guard let (before, number, after) = aroundOne else { preconditionFailure("several values") }
    guard let value = values[values.startIndex + number] else { return .failure(.missing(number)) }
    guard isWithinLimits(values) else { return .failure(.tooLarge) }
    return .success(RequestBody(before: before, own: value, after: after))
  }

  /// Why there is no body with these values, whatever the badge; nil when there is one.
  func hindrance(with values: ArraySlice<UnsafeRawBufferPointer?>) -> Hindrance? {
    guard isWithinLimits(values) else { return .tooLarge }
    for piece in pieces {
      guard case .value(let number) = piece else { continue }
      if values[values.startIndex + number] == nil { return .missing(number) }
    }
    return nil
  }

  /// Makes the body of one push.
  /// - Parameters:
  ///   - body: what it is written to, in place of what is there.
  ///   - values: by number of the placeholder.
  ///   - badge: the installation's.
  ///   - id: of a request that has one.
  /// - Returns: why there is none.
  func fill(
    _ body: inout [UInt8], with values: ArraySlice<UnsafeRawBufferPointer?>,
    badge: Int = 0, tokens: [UnsafeRawBufferPointer], id: [UInt8] = []
  ) -> Hindrance? {
    guard isWithinLimits(values) else { return .tooLarge }
    body.removeAll(keepingCapacity: true)
    for piece in pieces {
      switch piece {
      case .text(let text): body.append(contentsOf: text)
      case .token:
        for (position, token) in tokens.enumerated() {
          if position > 0 { body.append(contentsOf: separator) }
          body.append(contentsOf: token)
        }
      case .tokenPrefix(let prefix, let fidPrefix):
        body.append(
          contentsOf: FirebaseInstallationID.isOne(tokens[0]) ? fidPrefix : prefix)
      case .requestID: body.append(contentsOf: id)
      case .badge(let max): body.append(contentsOf: Mark.badgeText(badge, atMost: max).utf8)
      case .value(let number):
        guard let value = values[values.startIndex + number] else { return .missing(number) }
        body.append(contentsOf: value)
        // What no network counts grows no further, either.
        guard body.count <= WorkerLimits.filledBodyBytesMax else { return .tooLarge }
      }
    }
    return nil
  }

  private func isWithinLimits(_ values: ArraySlice<UnsafeRawBufferPointer?>) -> Bool {
    limits.allSatisfy { isKept($0, values) }
  }

  private func isKept(
    _ limit: Limit, _ values: ArraySlice<UnsafeRawBufferPointer?>
  ) -> Bool {
    var bytes = limit.fixedBytes
    for number in limit.values {
      guard let value = values[values.startIndex + number] else { continue }
      // An escape makes six bytes of one at most: what is too long in any case is not counted.
      guard bytes <= limit.bytesMax, value.count / 6 <= limit.bytesMax else { return false }
      bytes += limit.isJSON ? value.count : JSONWriter.unescapedCount(value)
    }
    return bytes <= limit.bytesMax
  }
}
