/// The version of this build in beats and in `pushpool --version`.
package enum WorkerVersion {
  package static let text = "0.3.0"
}
