internal import Store
internal import Typesetting

extension KeyTypes.Finding {
  /// Advice about it, with the command to type.
  var remedy: String {
    let name = ShellWord.quoted(key)
    if let staying { return "another program or a hand wrote it; \(staying.remedy(name))" }
    return "another program or a hand wrote it: move it away "
      + "(redis-cli RENAME \(name) \(ShellWord.quoted(aside)))"
  }
}
