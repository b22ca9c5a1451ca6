internal import Model

/// A value for each network and environment, found without hashing: asked for each push. It lies in what has it, for each job
/// has some.
struct NetworkTable<Value> {
  /// 3 networks with 2 environments each.
  private var values: InlineArray<6, Value>

  init(repeating value: Value) { values = InlineArray(repeating: value) }

  subscript(network: Network, environment: PushEnvironment) -> Value {
    get { values[NetworkPlace.of(network, environment)] }
    _modify { yield &values[NetworkPlace.of(network, environment)] }
  }
}

/// The places of what an app has one of for each network and environment.
enum NetworkPlace {
  /// From 0.
  static func of(_ network: Network, _ environment: PushEnvironment) -> Int {
    network.index * PushEnvironment.allCases.count + (environment == .production ? 0 : 1)
  }
}
