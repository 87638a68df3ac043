"""Generate the parts of the pages that come from data: requirements, operations, fields."""
