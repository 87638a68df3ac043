"""Run the suite against implementations that each have one seeded fault."""
