"""The verb `fuzz`: engines are run, findings told apart, made small and turned into vectors."""
