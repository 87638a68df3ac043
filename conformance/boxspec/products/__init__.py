"""Judge third-party software: declare, install, judge and compare products."""
