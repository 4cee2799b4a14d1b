"""Charts and maps as SVG: numbers in, markup out; they read no table."""
