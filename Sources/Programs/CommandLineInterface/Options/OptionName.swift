/// How a field of JSON is called on the command line.
enum OptionName {
  /// `/device_type` is `--device-type`.
  static func of(_ pointer: String) -> String {
    let name = pointer.dropFirst().prefix { $0 != "/" }
    let option = name == "channels" ? "channel" : String(name)
    return "--" + option.split(separator: "_").joined(separator: "-")
  }
}
