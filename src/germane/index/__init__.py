"""The index: immutable segments behind a manifest, one writer, many readers."""
