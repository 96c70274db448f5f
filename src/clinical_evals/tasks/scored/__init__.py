"""What answers became: results, tables, explanations."""
