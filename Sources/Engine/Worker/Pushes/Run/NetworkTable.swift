internal import Model

/// A value for each network and environment, found without hashing: asked for each push. It lies in what has it, for each job
/// has some.
struct NetworkTable<Value> {
  private var values: Network.Places<Value>

  init(repeating value: Value) { values = Network.Places(repeating: value) }

  subscript(network: Network, environment: PushEnvironment) -> Value {
    get { values[network.place(in: environment)] }
    _modify { yield &values[network.place(in: environment)] }
  }
}
