"""The sources of federated search, one module each; `germane.metasearch.registry` lists their names."""
