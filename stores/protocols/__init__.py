"""What nodes and routes ask of a store. Nobody above `tributary.services` sees a backend.

Every method takes the organisation first, and sees and changes nothing of any other. An id that is unknown
and one that belongs to another organisation raise the same `NotFound`. A backend that can't be reached, or
that loses its connection, raises `DependencyUnavailable`, never a driver's error. Constructors do no I/O.
"""
