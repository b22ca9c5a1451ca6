internal import ArgumentParser
internal import Model

extension Priority: ExpressibleByArgument {}
extension Network: ExpressibleByArgument {}
extension PushEnvironment: ExpressibleByArgument {}
extension TokenKind: ExpressibleByArgument {}
