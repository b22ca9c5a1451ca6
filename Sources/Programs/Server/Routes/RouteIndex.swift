/// Finds the route of a request by its method and path. It compares the path as it was sent, before anything of it is
/// percent-decoded: an encoded slash ends no segment, and an encoded colon begins no action.
package struct RouteIndex: Sendable {
  /// The routes of one shape of paths, of which each has another method.
  private struct Place: Sendable {
    /// A literal; nil for a parameter.
    let literals: [String?]
    let action: String?
    var routes: [APIRoute]

    init(_ route: APIRoute) {
      literals = route.pattern.segments.map {
        if case .literal(let text) = $0 { text } else { nil }
      }
      action = route.pattern.action
      routes = [route]
    }

    /// - Parameter segments: as they were sent; the last one without its action.
    func matches(_ segments: [Substring]) -> Bool {
      for (literal, segment) in zip(literals, segments) {
        guard let literal else {
          guard !segment.isEmpty else { return false }
          continue
        }
        guard segment == literal else { return false }
      }
      return true
    }

    /// Whether a literal stands where the other has a parameter, at the first place in which they differ.
    func isNarrower(than other: Place) -> Bool {
      for (own, others) in zip(literals, other.literals) where (own == nil) != (others == nil) {
        return own != nil
      }
      return false
    }
  }

  /// The places by the number of their segments, the narrower ones first.
  private let places: [Int: [Place]]

  /// - Parameter routes: no two of one method and one shape of paths.
  package init(_ routes: [APIRoute]) {
    var places: [Int: [Place]] = [:]
    for route in routes {
      let place = Place(route)
      var alike = places[place.literals.count] ?? []
      let known = alike.firstIndex {
        $0.literals == place.literals && $0.action == place.action
      }
      if let known {
        precondition(
          !alike[known].routes.contains { $0.method == route.method },
          "two routes are \(route.method.rawValue) \(route.pattern.text)")
        alike[known].routes.append(route)
      } else {
        // Behind those that are as narrow: they were named first.
        let index = alike.firstIndex { place.isNarrower(than: $0) } ?? alike.endIndex
        alike.insert(place, at: index)
      }
      places[place.literals.count] = alike
    }
    self.places = places
  }

  /// - Parameter rawPath: as it was sent, without the query.
  /// - Returns: the route, and the values of its path's parameters by their names.
  /// - Throws: 400 for a path that cannot be read, 404 for one that is unknown, 405 (with `allow`) for another method, 414 for a
  ///   path that is too long.
  package func find(
    method: APIRequest.Method, rawPath: String
  ) throws(Problem) -> (APIRoute, [String: String]) {
    try find(method: method.rawValue, rawPath: rawPath)
  }

  /// Finds a route as above.
  /// - Parameter method: as it was sent; case counts.
  package func find(
    method: String, rawPath: String
  ) throws(Problem) -> (APIRoute, [String: String]) {
    let segments = try Self.segments(of: rawPath)
    guard let (place, values) = place(of: segments) else {
      throw .notFound("there is nothing at this path: /openapi.json lists what there is")
    }
    guard let route = place.routes.first(where: { $0.method.rawValue == method }) else {
      let allowed = place.routes.map(\.method.rawValue).sorted().joined(separator: ", ")
      var problem = Problem(
        405, "method not allowed", "this path takes \(allowed), and no other method")
      problem.headers = [(name: "allow", value: allowed)]
      throw problem
    }
    var path: [String: String] = [:]
    for (segment, value) in zip(route.pattern.segments, values) {
      guard case .parameter(let name) = segment else { continue }
      path[name] = try Self.decoded(value, name)
    }
    return (route, path)
  }

  /// The place of a path, and its segments without the action. An action that is known there goes before a value that ends
  /// as it does.
  private func place(of segments: [Substring]) -> (Place, [Substring])? {
    let alike = places[segments.count] ?? []
    if let last = segments.last, let colon = last.utf8.lastIndex(of: UInt8(ascii: ":")) {
      let action = last[last.utf8.index(after: colon)...]
      let bare = Array(segments.dropLast()) + [last[..<colon]]
      let place = alike.first { place in
        place.action.map { action == $0 } ?? false && place.matches(bare)
      }
      if let place { return (place, bare) }
    }
    guard let place = alike.first(where: { $0.action == nil && $0.matches(segments) }) else {
      return nil
    }
    return (place, segments)
  }

  // MARK: The text of a path

  /// Cuts a path at its slashes, and looks whether each part can be read.
  private static func segments(of rawPath: String) throws(Problem) -> [Substring] {
    guard rawPath.utf8.count <= ServerLimits.pathBytesMax else {
      throw Problem(
        414, "path too long", "a path has at most \(ServerLimits.pathBytesMax) bytes")
    }
    guard rawPath.utf8.first == UInt8(ascii: "/") else {
      throw .badRequest("a path begins with a slash")
    }
    // What no path may hold (RFC 3986, 3.3). Whatever stands before this server may read it otherwise.
    guard rawPath.utf8.allSatisfy({ isPlain($0) }) else {
      throw .badRequest(
        "a path holds ASCII letters, digits and the marks of RFC 3986 alone: percent-encode all else"
      )
    }
    let segments = rawPath.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for segment in segments { try check(segment) }
    return segments
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=:@%/".utf8.contains(byte)
    }
  }

  private static func check(_ segment: Substring) throws(Problem) {
    guard segment.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: ".") })
    else { return }
    let bytes = try bytes(of: segment)
    // Clients and proxies take them out, also where they are encoded (RFC 3986, 5.2.4; URL Standard).
    guard bytes != Array(".".utf8), bytes != Array("..".utf8) else {
      throw .badRequest("a segment of a path must not be . or .. , encoded or not")
    }
    guard !bytes.contains(0) else { throw .badRequest("a path must not hold %00") }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw .badRequest("what a path holds in percent-encoding must be UTF-8")
    }
  }

  private static func decoded(_ segment: Substring, _ name: String) throws(Problem) -> String {
    guard let text = String(validating: try bytes(of: segment), as: UTF8.self) else {
      throw .badRequest("\(name) of the path must be UTF-8")
    }
    return text
  }

  private static func bytes(of segment: Substring) throws(Problem) -> [UInt8] {
    guard let bytes = PercentText.bytes(of: segment.utf8) else {
      throw .badRequest("% in a path must have two hexadecimal digits behind it: write %25 for %")
    }
    return bytes
  }
}
