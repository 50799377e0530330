"""One module per format, with the format's stem; all are fed the same events. Start at `shaderstat.reporters.base`."""
