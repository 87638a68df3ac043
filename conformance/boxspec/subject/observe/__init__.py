"""What is seen from outside: processes, events of fixture programs, the moments of both."""
