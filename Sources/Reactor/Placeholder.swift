// Placeholder until the first type of this layer lands.
