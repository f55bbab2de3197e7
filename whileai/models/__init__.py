"""Chat models: where a name becomes weights that answer."""
