"""The learnt models of an index: their files and versions, which one serves, and how it ranks and keeps vectors."""
