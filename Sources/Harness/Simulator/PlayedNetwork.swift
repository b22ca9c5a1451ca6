internal import Model

/// A network that is played here.
protocol PlayedNetwork {
  static var network: Network { get }

  /// The requests that it answers, in lines for the help.
  static var paths: [String] { get }

  /// The body of an error that a rule of the script says, in the network's form.
  /// - Parameters:
  ///   - reason: the rule's.
  ///   - token: of the push that is answered so.
  static func body(
    of rule: ScriptRule, status: Int, reason: String, token: UnsafeRawBufferPointer
  ) -> [UInt8]
}
