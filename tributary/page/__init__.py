"""The page: a client of the REST routes for browsers. `static/` holds it as it is served, without a build step."""
