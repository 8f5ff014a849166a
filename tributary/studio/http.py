"""Our HTTP application inside LangGraph's server, over the services that the graphs use."""

from server import create_app
from tributary.studio.opened import opened

app = create_app(opening=opened.closing)
