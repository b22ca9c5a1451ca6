/// A condition on one field of an installation. It does not hold where the installation lacks the field.
struct FilterCondition: Sendable, Equatable {
  let field: FilterField
  let test: FilterTest
}
