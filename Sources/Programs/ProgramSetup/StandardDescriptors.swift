internal import Glibc

/// Standard input, output and error, where whoever started the program has closed one of them.
package enum StandardDescriptors {
  /// Takes their numbers before a socket or an event loop gets them: what is printed would go there. To read from or
  /// write to them fails as it would have.
  package static func takeClosed() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest number that is free, which is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
