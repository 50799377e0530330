"""One module per format, with the format's stem; all of them are fed the same events. See `shaderstat.reporters.base`."""
