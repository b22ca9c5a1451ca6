internal import Model

/// A value for each network and environment, found without hashing: asked for each push.
struct NetworkTable<Value> {
  private var values: [Value]

  init(repeating value: Value) {
    values = Array(
      repeating: value, count: Network.allCases.count * PushEnvironment.allCases.count)
  }

  subscript(network: Network, environment: PushEnvironment) -> Value {
    get { values[Self.place(network, environment)] }
    _modify { yield &values[Self.place(network, environment)] }
  }

  private static func place(_ network: Network, _ environment: PushEnvironment) -> Int {
    network.index * PushEnvironment.allCases.count + (environment == .production ? 0 : 1)
  }
}
