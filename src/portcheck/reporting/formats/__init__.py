"""One module for each format that is not a template; the module's name is the name of the format."""
