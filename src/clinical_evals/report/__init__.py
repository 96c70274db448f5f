"""Tables beside what the papers print."""
