/// What this build calls itself in beats and in `pushpool --version`.
package enum WorkerVersion {
  package static let text = "0.3.0"
}
