/// A drawing of rectangles and texts, in pixels from the upper left corner.
package struct SVGDocument: Sendable {
  package enum Anchor: String, Sendable { case start, end }

  private let width: Int
  private var elements: [String] = []
  private var height = 0

  package init(width: Int) {
    self.width = width
  }

  package mutating func addRectangle(
    x: Double, y: Double, width: Double, height: Double, color: String
  ) {
    elements.append(
      #"<rect x="\#(Self.text(x))" y="\#(Self.text(y))" width="\#(Self.text(width))" "#
        + #"height="\#(Self.text(height))" fill="\#(color)"/>"#)
    grow(to: y + height)
  }

  /// - Parameter y: of the base line.
  package mutating func addText(
    _ text: String, x: Double, y: Double, size: Int, anchor: Anchor = .start, color: String
  ) {
    elements.append(
      #"<text x="\#(Self.text(x))" y="\#(Self.text(y))" font-size="\#(size)" "#
        + #"text-anchor="\#(anchor.rawValue)" fill="\#(color)">\#(Self.escaped(text))</text>"#)
    grow(to: y)
  }

  private mutating func grow(to y: Double) { height = max(height, Int(y.rounded(.up))) }

  /// The document, with a white ground so that it can be read on dark pages.
  package var text: String {
    let height = self.height + 14
    let head = [
      #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" "#
        + #"viewBox="0 0 \#(width) \#(height)" font-family="sans-serif">"#,
      ##"<rect width="100%" height="100%" fill="#ffffff"/>"##,
    ]
    return (head + elements + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  private static func text(_ value: Double) -> String {
    Figure.text(value, decimals: 1).filter { $0 != "," }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
    return result
  }
}
