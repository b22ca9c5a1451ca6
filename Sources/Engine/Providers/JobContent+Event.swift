import Model

extension JobContent {
  /// Where in the job what it says to all networks stands, for complaints about it.
  var commonPart: String { event == nil ? "/notification" : "/event" }

  /// Whether it says anything to all networks.
  var hasCommonPart: Bool { notification != nil || event != nil }
}
