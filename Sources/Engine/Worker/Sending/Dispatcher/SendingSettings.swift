/// How a lane sends, from the configuration.
struct SendingSettings {
  /// The process, as its alarms name it.
  var worker: String
  var connections: ConnectionSettings
  /// Connections to all networks beyond which idle ones are closed.
  var connectionsKept = Int.max
  /// Shared by the lanes of a process.
  var shortage: DescriptorShortage
}
