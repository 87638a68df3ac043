"""What two contracts speak of: policy files as text, and what a glob means. No contract itself."""
