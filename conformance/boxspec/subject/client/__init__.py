"""The protocol: requests and answers as files and as lines, and checks of the answers."""
