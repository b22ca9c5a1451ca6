/// Why a measurement could not be made: a sentence for a person.
package struct BenchError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
