"""What an operator sees of a running process: figures for Prometheus, traces for OpenTelemetry, and the log. None of
the three ever holds a secret or the text of a document."""
