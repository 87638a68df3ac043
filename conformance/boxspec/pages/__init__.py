"""The parts of the pages that are made from declarations: requirements, operations, fields."""
