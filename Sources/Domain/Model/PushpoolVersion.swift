/// The version of the programs: in beats, in answers and in `--version`. Between two releases it is that of the next one, whose
/// section of CHANGELOG.md is called Unreleased; `scripts/tidy` compares the two.
package enum PushpoolVersion {
  package static let text = "0.4.0"
}
