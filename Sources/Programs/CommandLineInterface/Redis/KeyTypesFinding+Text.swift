internal import Store

extension KeyTypes.Finding {
  /// What to do about it, with the command to type.
  var remedy: String {
    let name = ShellWord.quoted(key)
    let aside = ShellWord.quoted("displaced:\(key)")
    let moving =
      "another program or a hand wrote it: move it away (redis-cli RENAME \(name) \(aside))"
    switch key.split(separator: ":").last {
    // A counter that began again would give numbers a second time.
    case "generation" where expected == "string" && !key.contains(":user:"):
      return moving
        + ", then begin above all numbers that were given (redis-cli SET \(name) "
        + "\(KeyTypes.newGeneration))"
    case "switches" where expected == "hash":
      return moving + ", then switch off anew what is to be off"
    default: return moving
    }
  }
}
