/// The version of the programs: in beats, in answers and in `--version`.
package enum PushpoolVersion {
  package static let text = "0.3.0"
}
