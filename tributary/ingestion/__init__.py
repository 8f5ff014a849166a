"""Documents on their way into a knowledge base: taken in, queued, worked on by workers that may die at any moment, and
taken out again."""
