"""The generated parts of the pages: requirements, operations, fields."""
