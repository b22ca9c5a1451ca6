internal import Typesetting

/// An empty value, as a script makes of a variable that is not set. It is never the same as no value: with
/// `--redis ""` a command would go to another Redis than the one that was meant.
package enum EmptyValue {
  /// - Throws: a usage error that names the option, or the place of the argument.
  package static func check(_ arguments: [String]) throws(CommandFailure) {
    for (index, argument) in arguments.enumerated() {
      guard let name = name(of: argument, behind: index > 0 ? arguments[index - 1] : nil) else {
        continue
      }
      throw CommandFailure(
        .usage, "\(DisplayText.printable(name)) is empty: give it a value, or leave it out")
    }
  }

  private static func name(of argument: String, behind previous: String?) -> String? {
    if argument.isEmpty {
      guard let previous, previous.hasPrefix("-"), previous != "--" else { return "an argument" }
      return previous
    }
    guard argument.hasPrefix("--"), argument.hasSuffix("="),
      !argument.dropLast().contains("=")
    else { return nil }
    return String(argument.dropLast())
  }
}
