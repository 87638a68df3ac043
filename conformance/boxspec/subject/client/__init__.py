"""Send requests and read answers, as files and as lines, and check the answers."""
