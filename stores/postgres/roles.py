"""The role that serves: no superuser, so that row-level security holds for it."""

SERVING_ROLE = "tributary_app"
