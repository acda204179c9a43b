"""The inverted index: immutable segments listed in a manifest, with one writer and many readers, as in Lucene."""
