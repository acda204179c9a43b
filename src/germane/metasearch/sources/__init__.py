"""The sources, a module for each; `germane.metasearch.registry` has their names."""
