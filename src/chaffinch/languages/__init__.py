"""Programming languages: a TOML file each, and the code that reads them."""
